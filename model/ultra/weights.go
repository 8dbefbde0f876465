package ultra

import (
	"fmt"

	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// weights are the parameters in the layout of the products: matrices are transposed, [inputs, outputs].
type weights struct {
	relations, entities [Layers]layer
	types               [Layers][]float32    // rows that messages between relations are multiplied by, [4, 64]
	projections         [Layers][2]affineMap // from a relation's state to its row of a table of messages
	head                head
}

// layer is the update of an entity or relation: x + relu(layer_norm(W [x, total] + b)).
type layer struct {
	affineMap // [128, 64]
	// scale and shift are those of the layer norm, [64].
	scale, shift []float32
}

// affineMap is a linear map and its bias.
type affineMap struct {
	matrix []float32 // [inputs, outputs]
	stored []float32 // the same as the parameters have it, [outputs, inputs]
	bias   []float32 // [outputs]
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
		w.relations[t] = newLayer(k, p, name)
		w.types[t] = p.Data(name + "relation.weight")
		name = fmt.Sprintf(entityPart+"layers.%d.", t)
		w.entities[t] = newLayer(k, p, name)
		for i := range w.projections[t] {
			w.projections[t][i] = newAffineMap(k, p, fmt.Sprintf("%srelation_projection.%d", name, 2*i))
		}
	}
	first := newAffineMap(k, p, entityPart+"mlp.0")
	w.head = head{
		state: first.matrix[:2*Dim*Dim], query: first.matrix[2*Dim*Dim:], bias: first.bias,
		output: p.Data(entityPart + "mlp.2.weight"), last: p.Data(entityPart + "mlp.2.bias")[0],
	}
	return w
}

func newLayer(k kernel.Vectors, p *parameters.Set[float32], name string) layer {
	return layer{newAffineMap(k, p, name+"linear"), p.Data(name + "layer_norm.weight"), p.Data(name + "layer_norm.bias")}
}

func newAffineMap(k kernel.Vectors, p *parameters.Set[float32], name string) affineMap {
	weight, bias := p.Data(name+".weight"), p.Data(name+".bias")
	m := affineMap{make([]float32, len(weight)), weight, bias}
	k.Transpose(m.matrix, weight, len(bias), len(weight)/len(bias))
	return m
}

// apply sets out, [n, outputs], to the map of x, [n, inputs].
func (m *affineMap) apply(k kernel.Multiplier, out, x []float32, n int) {
	fillRows(out, m.bias)
	k.Multiply(out, x, m.matrix, n, len(m.matrix)/len(m.bias), len(m.bias), true)
}

// fillRows copies a row to every row of a table.
func fillRows(table, row []float32) {
	for len(table) > 0 {
		table = table[copy(table, row):]
	}
}
