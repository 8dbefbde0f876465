package propagation

import (
	"fmt"
	"sync"

	"tagnet/model/configuration"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

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

// Sum adds the gradients of a batch's queries, in their order, to those of the parameters.
// queries has the relation that each query asks for.
func Sum(k kernel.Kernel, w *Weights, slots []*Gradients, queries []int32, into *parameters.Set[float32]) error {
	if len(slots) != len(queries) {
		return fmt.Errorf("summing gradients: %d slots for %d queries", len(slots), len(queries))
	}
	d := w.configuration.Dim
	query := into.Data("query.weight")
	for i, slot := range slots {
		addTo(query[int(queries[i])*d:int(queries[i]+1)*d], slot.Query)
		if slot.priority != nil {
			slot.priority.addTo(into)
		}
	}
	shares := make([][]float32, len(w.layers)) // by layer: what its map gives to the queries' embeddings
	var layers sync.WaitGroup                  // a layer's parameters are its own
	for t := range w.layers {
		layers.Go(func() {
			shares[t] = sumRelations(k, w, t, slots, queries, into)
			for _, slot := range slots {
				slot.layers[t].addTo(t, w, into)
			}
		})
	}
	layers.Wait()
	for _, share := range shares {
		for i := 0; i < len(share); i += d {
			relation := int(queries[i/d])
			addTo(query[relation*d:(relation+1)*d], share[i:i+d])
		}
	}
	return nil
}

// addTo adds one query's gradient of a layer, but for its relations, in the stored layout.
func (g *layerGradients) addTo(t int, w *Weights, into *parameters.Set[float32]) {
	addTo(into.Layer(t+1, "linear.bias"), g.bias)
	addTo(into.Layer(t+1, "layer_norm.weight"), g.scale)
	addTo(into.Layer(t+1, "layer_norm.bias"), g.shift)
	addTo(into.Layer(t+1, "degree"), g.degree)
	d := w.configuration.Dim
	weight := into.Layer(t+1, "linear.weight")
	columns := d + w.configuration.UpdateWidth()
	for i := range d {
		row := weight[i*columns : (i+1)*columns]
		for j := range d {
			row[j] += g.maps[0][j*d+i]
		}
		for u := range row[d:] {
			feature, k := w.feature(u)
			row[d+u] += g.maps[k][(d+feature)*d+i]
		}
	}
}

// sumRelations adds the gradients of a layer's relation embeddings; or of the map that makes
// them, and then returns those of the queries' embeddings that it maps, [slots, dim]. There
// the batch is one matrix product each, which takes the queries in order.
func sumRelations(k kernel.Kernel, w *Weights, t int, slots []*Gradients, queries []int32, into *parameters.Set[float32]) []float32 {
	if direct := into.Layer(t+1, "relation.weight"); direct != nil {
		for _, slot := range slots {
			addTo(direct, slot.layers[t].relation)
		}
		return nil
	}
	d := w.configuration.Dim
	bias := into.Layer(t+1, "relation_linear.bias")
	stacked := make([]float32, 0, len(slots)*len(bias))
	embeddings := make([]float32, 0, len(slots)*d)
	for i, slot := range slots {
		addTo(bias, slot.layers[t].relation)
		stacked = append(stacked, slot.layers[t].relation...)
		embeddings = append(embeddings, w.query[int(queries[i])*d:int(queries[i]+1)*d]...)
	}
	k.MultiplyTransposed(into.Layer(t+1, "relation_linear.weight"), stacked, embeddings, len(slots), len(bias), d)
	k.Multiply(embeddings, stacked, w.layers[t].relationMap, len(slots), len(bias), d, false)
	return embeddings
}

// addTo adds a to sum, entry by entry. A nil a adds nothing.
func addTo(sum, a []float32) {
	for i, value := range a {
		sum[i] += value
	}
}
