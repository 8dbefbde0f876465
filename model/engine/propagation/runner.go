package propagation

import (
	"context"
	"fmt"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/engine/window"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// runner computes the layers of a query, forward and backward, whatever policy chooses what they update. It has what
// all policies know of the query.
type runner struct {
	graph         *graph.Graph
	configuration configuration.Configuration
	kernel        kernel.Kernel
	message       kernel.Message
	reduction     kernel.Reduction
	dropout       dropout
	layout        *window.Layout
	reach         *within // nil where queries propagate through the whole graph

	// The last query. With a reach its entities have the ids of the part.
	weights    *Weights
	query      Request
	relation   int32       // whose answers are computed
	embedding  []float32   // of the relation, [dim]
	embeddings [][]float32 // by layer: what messages are multiplied by, [2R, dim]
	buffers    relations.Buffers
	distances  distances
	// sameGraph reports that the query before was answered in the same graph, sameSearch that it had
	// the same source, too.
	sameGraph, sameSearch bool

	update      layerUpdate // the layer being computed
	activations activations
	folded      foldedWeights
	scratch     scratch
	edges       *edgeRecorder // while EdgeGradients runs, else nil

	// What the last query did.
	sent, updated int64
}

func newRunner(g *graph.Graph, c configuration.Configuration, k kernel.Kernel, layout *window.Layout) *runner {
	return &runner{
		graph: g, configuration: c, kernel: k, message: messageOf(c.Message), reduction: reductionOf(c.Aggregate),
		dropout: newDropout(c.Dropout), layout: layout,
	}
}

// messageOf returns the kernels' message function of a configuration's name.
func messageOf(name string) kernel.Message {
	switch name {
	case configuration.MessageTransE:
		return kernel.TransE
	case configuration.MessageRotatE:
		return kernel.RotatE
	case configuration.MessageDistMult:
		return kernel.DistMult
	}
	panic(fmt.Sprintf("propagation: no kernel for the message function %q", name))
}

// reductionOf returns the kernels' reduction of a configuration's name.
func reductionOf(name string) kernel.Reduction {
	switch name {
	case configuration.AggregateSum:
		return kernel.Sum
	case configuration.AggregateMean:
		return kernel.Mean
	case configuration.AggregateMax:
		return kernel.Max
	case configuration.AggregatePNA:
		return kernel.PNA
	}
	panic(fmt.Sprintf("propagation: no kernel for the aggregate %q", name))
}

// canceled returns the cause once ctx is done.
func canceled(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
