package score

import (
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/inference"
)

// Memory bounds the bytes of scoring over a graph beside the parameters: the weights as
// propagation wants them, shared, and what each thread has, a model/inference worker and a seat of
// 10 bytes an entity (two arrays of scores, distances, the packed row), 16 a best candidate and a
// decompressor.
func Memory(g *graph.Graph, c configuration.Configuration, best int) (shared, thread int64) {
	const decompressor = 1 << 18
	shared, worker := inference.Memory(g, c)
	return shared, worker + 10*int64(g.Entities) + 16*int64(best) + decompressor
}
