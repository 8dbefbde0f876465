package ultra

import (
	"fmt"

	"tagnet/model/internal/stack"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// weights are the parameters in the layout of the products: matrices are transposed, [inputs, outputs].
type weights struct {
	relations, entities [Layers]stack.Layer
	types               [Layers][]float32    // rows that messages between relations are multiplied by, [4, 64]
	projections         [Layers][2]stack.Map // from a relation's state to its row of a table of messages
	head                head
}

// head is the score function, an MLP over [x, x_q]: the first layer's product with x_q is the same for all entities of a query.
type head struct {
	state, query []float32 // [64, 128]
	bias         []float32 // [128]
	output       []float32 // [128]
	last         float32
}

func newWeights(k kernel.Vectors, p *parameters.Set[float32]) *weights {
	w := &weights{}
	for t := range Layers {
		name := fmt.Sprintf(relationPart+"layers.%d.", t)
		w.relations[t] = stack.NewLayer(k, p, name)
		w.types[t] = p.Data(name + "relation.weight")
		name = fmt.Sprintf(entityPart+"layers.%d.", t)
		w.entities[t] = stack.NewLayer(k, p, name)
		for i := range w.projections[t] {
			w.projections[t][i] = stack.NewMap(k, p, fmt.Sprintf("%srelation_projection.%d", name, 2*i))
		}
	}
	first := stack.NewMap(k, p, entityPart+"mlp.0")
	w.head = head{
		state: first.Matrix[:2*Dim*Dim], query: first.Matrix[2*Dim*Dim:], bias: first.Bias,
		output: p.Data(entityPart + "mlp.2.weight"), last: p.Data(entityPart + "mlp.2.bias")[0],
	}
	return w
}
