package ultra

import (
	"fmt"

	"tagnet/model/internal/stack"
	"tagnet/model/kernel"
	"tagnet/model/parallel"
	"tagnet/model/parameters"
)

// Gradients are the gradients of all parameters for one query. Each query of a batch has its own, and Sum adds them in the order
// of the queries, so that no bit of the result depends on which thread took which query.
type Gradients struct {
	// Set has the gradients in the layout of the parameters. A Propagator leaves those of the score function alone.
	Set *parameters.Set[float32]

	relations, entities [Layers]stack.LayerGradients
	types               [Layers][]float32             // [4, 64]
	projections         [Layers][2]stack.MapGradients // of the map from a relation's state, and of the one after it
}

// NewGradients returns zeros.
func NewGradients() *Gradients {
	g := &Gradients{Set: parameters.NewSet[float32](Layout())}
	for t := range Layers {
		name := fmt.Sprintf(relationPart+"layers.%d.", t)
		g.relations[t], g.types[t] = stack.NewLayerGradients(g.Set, name), g.Set.Data(name+"relation.weight")
		name = fmt.Sprintf(entityPart+"layers.%d.", t)
		g.entities[t] = stack.NewLayerGradients(g.Set, name)
		for i := range g.projections[t] {
			g.projections[t][i] = stack.NewMapGradients(g.Set, fmt.Sprintf("%srelation_projection.%d", name, 2*i))
		}
	}
	return g
}

// Clear sets all gradients to zero.
func (g *Gradients) Clear() {
	for _, t := range g.Set.Tensors {
		clear(t.Data)
	}
}

// Sum sets into to the sum of the gradients of a batch, computed by so many threads.
func Sum(k kernel.Vectors, batch []*Gradients, into *parameters.Set[float32], threads int) {
	parallel.Workers(threads, len(into.Tensors), func(_, i int) {
		sum := into.Tensors[i].Data
		clear(sum)
		for _, g := range batch {
			k.Add(sum, g.Set.Tensors[i].Data)
		}
	})
}
