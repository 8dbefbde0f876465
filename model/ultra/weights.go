package ultra

import (
	"fmt"

	"tagnet/model/internal/stack"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// weights are the parameters of the entities' part in the layout of the products: matrices are transposed, [inputs, outputs].
type weights struct {
	entities [Layers]stack.Layer
	head     head
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
		w.entities[t] = stack.NewLayer(k, p, fmt.Sprintf(entityPart+"layers.%d.", t))
	}
	first := stack.NewMap(k, p, entityPart+"mlp.0")
	w.head = head{
		state: first.Matrix[:2*Dim*Dim], query: first.Matrix[2*Dim*Dim:], bias: first.Bias,
		output: p.Data(entityPart + "mlp.2.weight"), last: p.Data(entityPart + "mlp.2.bias")[0],
	}
	return w
}
