package inference

import (
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/propagation"
)

// Memory bounds the bytes of a Scorer beside the parameters, shared by its workers, and those
// of each worker: a propagator, and rows of a head for 512 entities at a time.
func Memory(g *graph.Graph, c configuration.Configuration) (shared, worker int64) {
	d, entities := int64(c.Dim), int64(g.Entities)
	shared = propagation.WeightsMemory(g, c, 0, 0) + 8*entities + 2*4*4*d*d
	worker = propagation.Memory(g, c, false) + 4*512*(3*d+2+int64(c.States())) + 64*d
	return shared, worker
}
