package stack

import (
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// Layer is the parameters of an update, x + relu(layer_norm(W [x, total] + b)), where total is the sum of messages and boundary.
type Layer struct {
	Map
	// Scale and Shift are those of the layer norm, [dim].
	Scale, Shift []float32
}

// NewLayer returns the layer whose parameters have names that begin with a prefix.
func NewLayer(k kernel.Vectors, p *parameters.Set[float32], prefix string) Layer {
	return Layer{NewMap(k, p, prefix+"linear"), p.Data(prefix + "layer_norm.weight"), p.Data(prefix + "layer_norm.bias")}
}

// LayerGradients has the gradients of a layer's parameters, in the layout of the parameters.
type LayerGradients struct {
	MapGradients
	Scale, Shift []float32
}

// NewLayerGradients returns those that p holds under names that begin with a prefix.
func NewLayerGradients(p *parameters.Set[float32], prefix string) LayerGradients {
	return LayerGradients{NewMapGradients(p, prefix+"linear"), p.Data(prefix + "layer_norm.weight"), p.Data(prefix + "layer_norm.bias")}
}

// Map is a linear map and its bias.
type Map struct {
	Matrix []float32 // [inputs, outputs]
	Stored []float32 // the same as the parameters have it, [outputs, inputs]
	Bias   []float32 // [outputs]
}

// NewMap returns the map with a name.
func NewMap(k kernel.Vectors, p *parameters.Set[float32], name string) Map {
	weight, bias := p.Data(name+".weight"), p.Data(name+".bias")
	m := Map{make([]float32, len(weight)), weight, bias}
	k.Transpose(m.Matrix, weight, len(bias), len(weight)/len(bias))
	return m
}

// MapGradients are those of a linear map, [outputs, inputs], and its bias.
type MapGradients struct{ Weight, Bias []float32 }

// NewMapGradients returns those that p holds under a name.
func NewMapGradients(p *parameters.Set[float32], name string) MapGradients {
	return MapGradients{p.Data(name + ".weight"), p.Data(name + ".bias")}
}

// Apply sets out, [n, outputs], to the map of x, [n, inputs].
func (m *Map) Apply(k kernel.Multiplier, out, x []float32, n int) {
	FillRows(out, m.Bias)
	k.Multiply(out, x, m.Matrix, n, len(m.Matrix)/len(m.Bias), len(m.Bias), true)
}

// Backward propagates the gradient of the map's outputs, [n, outputs], to its parameters, to which it adds, and to its inputs x,
// [n, inputs], which it sets or adds to.
func (m *Map) Backward(k kernel.Kernel, into *MapGradients, x, by, byX []float32, add bool) {
	outputs := len(m.Bias)
	n, inputs := len(by)/outputs, len(m.Stored)/outputs
	k.MultiplyTransposed(into.Weight, by, x, n, outputs, inputs, true)
	for i := range n {
		k.Add(into.Bias, by[i*outputs:(i+1)*outputs])
	}
	k.Multiply(byX, by, m.Stored, n, outputs, inputs, add)
}

// FillRows copies a row to every row of a table.
func FillRows(table, row []float32) {
	for len(table) > 0 {
		table = table[copy(table, row):]
	}
}
