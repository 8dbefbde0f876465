package optimizer

import (
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/head"
	"tagnet/model/parameters"
	"tagnet/model/propagation"
)

// Memory bounds the bytes of a Trainer beside the parameters and the solver. What its workers
// share is the parameters' gradients, the weights as propagation wants them, and the gradients
// of each query of a batch; each worker has a propagator, the answers a negative
// must not be, and a head.
func Memory(g *graph.Graph, c configuration.Configuration, replicas int) (shared, worker int64) {
	batch := int64(c.BatchSize)
	shared = 4*Parameters(g, c) + propagation.WeightsMemory(g, c, c.BatchSize, replicas)
	shared += batch * (propagation.GradientsMemory(c, g.RelationCount()) + head.GradientsMemory(c))
	worker = propagation.Memory(g, c, true) + head.Memory(c) + 5*int64(g.Entities) + 4*int64(1+c.Negatives)
	return shared, worker
}

// Parameters is the number of a model's parameters.
func Parameters(g *graph.Graph, c configuration.Configuration) int64 {
	total := int64(0)
	for _, shape := range parameters.Layout(c, g.RelationCount()) {
		total += int64(shape.Size())
	}
	return total
}
