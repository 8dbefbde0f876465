package relations

import (
	"tagnet/model/engine/kernel"
	"tagnet/model/weights/parameters"
)

// layer is the parameters of an update, x + relu(layer_norm(W [x, total] + b)), where total is the sum of
// messages and boundary.
type layer struct {
	linearMap
	// Scale and Shift are the layer norm's, [dim].
	Scale, Shift []float32
}

// newLayer returns the layer whose parameters have names that begin with a prefix.
func newLayer(k kernel.Vectors, p *parameters.Set[float32], prefix string) layer {
	return layer{newLinearMap(k, p, prefix+"linear"), p.Data(prefix + "layer_norm.weight"), p.Data(prefix + "layer_norm.bias")}
}

// layerGradients has the gradients of a layer's parameters, in the layout of the parameters.
type layerGradients struct {
	mapGradients
	Scale, Shift []float32
}

// newLayerGradients returns the gradients that p holds under names that begin with a prefix.
func newLayerGradients(p *parameters.Set[float32], prefix string) layerGradients {
	return layerGradients{newMapGradients(p, prefix+"linear"), p.Data(prefix + "layer_norm.weight"), p.Data(prefix + "layer_norm.bias")}
}

// linearMap is a linear map and its bias.
type linearMap struct {
	Matrix []float32 // [inputs, outputs]
	Stored []float32 // the same as the parameters have it, [outputs, inputs]
	Bias   []float32 // [outputs]
}

// newLinearMap returns the map with a name.
func newLinearMap(k kernel.Vectors, p *parameters.Set[float32], name string) linearMap {
	weight, bias := p.Data(name+".weight"), p.Data(name+".bias")
	m := linearMap{make([]float32, len(weight)), weight, bias}
	k.Transpose(m.Matrix, weight, len(bias), len(weight)/len(bias))
	return m
}

// mapGradients are the gradients of a linear map, [outputs, inputs], and its bias.
type mapGradients struct{ Weight, Bias []float32 }

// newMapGradients returns the gradients that p holds under a name.
func newMapGradients(p *parameters.Set[float32], name string) mapGradients {
	return mapGradients{p.Data(name + ".weight"), p.Data(name + ".bias")}
}

// apply sets out, [n, outputs], to the map of x, [n, inputs].
func (m *linearMap) apply(k kernel.Multiplier, out, x []float32, n int) {
	fillRows(out, m.Bias)
	k.Multiply(out, x, m.Matrix, kernel.Product{Rows: n, Inner: len(m.Matrix) / len(m.Bias), Columns: len(m.Bias), Add: true})
}

// backward propagates the gradient of the map's outputs, [n, outputs], to its parameters, to which it adds, and to its
// inputs x, [n, inputs], which it sets or adds to.
func (m *linearMap) backward(k kernel.Kernel, into *mapGradients, x, by, gradX []float32, add bool) {
	outputs := len(m.Bias)
	n, inputs := len(by)/outputs, len(m.Stored)/outputs
	k.MultiplyTransposed(into.Weight, by, x, kernel.Product{Rows: n, Inner: outputs, Columns: inputs, Add: true})
	for i := range n {
		k.Add(into.Bias, by[i*outputs:(i+1)*outputs])
	}
	k.Multiply(gradX, by, m.Stored, kernel.Product{Rows: n, Inner: outputs, Columns: inputs, Add: add})
}

// fillRows copies a row to every row of a table.
func fillRows(table, row []float32) {
	for len(table) > 0 {
		table = table[copy(table, row):]
	}
}
