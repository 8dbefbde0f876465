package propagation

import (
	"tagnet/model/engine/relations"
	"tagnet/model/weights/configuration"
)

// Gradients are the gradients of the propagation's parameters for one query. Each query of a batch
// has its own, and Sum adds them in the order of the queries, so that no bit of the result depends on
// which worker took which query.
//
// Of the relation source they hold the gradients of its outputs; Sum derives the gradients of its parameters for a
// whole batch. Memory: about 4 · layers · dim · (2R + width) bytes, width 15 dim for PNA.
type Gradients struct {
	relations.Gradient
	layers   []layerGradients
	priority *priorityGradients
}

// layerGradients are the gradients of a layer's parameters.
type layerGradients struct {
	// maps are the gradients of the linear map by scaler, [width, dim] each. For the previous state,
	// the first dim rows, only those under the first scaler are used.
	maps   [3][]float32
	bias   []float32
	scale  []float32
	shift  []float32
	degree []float32
}

// NewGradients returns zeros for a model of configuration c over a number of relations, 2R.
func NewGradients(c configuration.Configuration, relationCount int) *Gradients {
	d := c.Dim
	g := &Gradients{Gradient: relations.NewGradient(c, relationCount), layers: make([]layerGradients, c.Layers)}
	for t := range g.layers {
		layer := &g.layers[t]
		width, scalers := 2*d, 1
		if c.Aggregate == configuration.AggregatePNA {
			width, scalers = 5*d, 3
		}
		for k := range scalers {
			layer.maps[k] = make([]float32, width*d)
		}
		if c.Bias {
			layer.bias, layer.scale, layer.shift = make([]float32, d), make([]float32, d), make([]float32, d)
		}
		if c.DegreeMessages {
			layer.degree = make([]float32, d)
		}
	}
	if c.Prioritized() {
		g.priority = newPriorityGradients(d)
	}
	return g
}

// Zero makes g the gradients of a query without any, as they are before another one.
func (g *Gradients) Zero() {
	g.Clear()
	for t := range g.layers {
		layer := &g.layers[t]
		for _, matrix := range layer.maps {
			clear(matrix)
		}
		clear(layer.bias)
		clear(layer.scale)
		clear(layer.shift)
		clear(layer.degree)
	}
	if g.priority != nil {
		g.priority.zero()
	}
}
