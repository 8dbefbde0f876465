package propagation

import "tagnet/model/configuration"

// Gradients is one query's gradient of the propagation's parameters. Each query of a batch
// has its own, and Sum adds them in the order of the queries, so that no bit of the result
// depends on which worker took which query.
//
// It is compact: where relation embeddings are a linear map of the query's embedding, it
// holds the gradient of the relation embeddings. Sum takes that to the map, and through the
// map to the query's embedding, for a batch at once. Memory: about
// 4 · layers · dim · (2R + width) bytes, width 15 dim for PNA.
type Gradients struct {
	// Query is the gradient of the query's embedding, [dim], but for its share through the
	// relation embeddings. A head adds its own.
	Query    []float32
	layers   []layerGradients
	priority *priorityGradients
}

type layerGradients struct {
	relation []float32 // [2R, dim]
	// maps are those of the linear map by scaler, [width, dim] each. Of the receiver's own
	// state, the first dim rows, the first counts.
	maps   [3][]float32
	bias   []float32
	scale  []float32
	shift  []float32
	degree []float32
}

// NewGradients returns zeros for a model of configuration c with that many relations (2R).
func NewGradients(c configuration.Configuration, relations int) *Gradients {
	d := c.Dim
	g := &Gradients{Query: make([]float32, d), layers: make([]layerGradients, c.Layers)}
	for t := range g.layers {
		layer := &g.layers[t]
		layer.relation = make([]float32, relations*d)
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

// zero makes the slot ready for another query.
func (g *Gradients) zero() {
	clear(g.Query)
	for t := range g.layers {
		layer := &g.layers[t]
		clear(layer.relation)
		for _, part := range layer.maps {
			clear(part)
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
