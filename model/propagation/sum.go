package propagation

import (
	"errors"
	"fmt"

	"tagnet/model/configuration"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// summation is what Sum keeps from batch to batch.
type summation struct {
	layers     []layerSums
	embeddings []float32 // of the queries, [slots, dim]
	// shares is what each part of each layer's map gives to the queries' embeddings,
	// [layers, parts, slots, dim].
	shares  []float32
	threads []sumThread
}

// layerSums is where a layer's gradients go, nil where the model has no such parameter.
type layerSums struct {
	weight, bias, scale, shift, degree []float32
	relation, relationMap, relationAdd []float32
}

type sumThread struct {
	stacked []float32    // a part of the queries' relation gradients, [slots, part]
	total   []float32    // of a layer's linear map under one scaler, as a query's is
	turned  [3][]float32 // its transpose, by scaler
}

// sumPart is how many of a layer's 2R dim relation gradients are summed and mapped at a time.
// Like embedPart it fits a cache, and is no power of two.
const sumPart = 1008

// Sum sets the gradients of the propagation's parameters to the sum over a batch's queries, in
// the order of the slots, whatever was there; those of the head's parameters it leaves alone.
// queries has the relation that each query asks for. No bit depends on the number of threads. Not
// for concurrent use with the same weights, whose buffers it takes.
func Sum(k kernel.Kernel, w *Weights, slots []*Gradients, queries []int32, into *parameters.Set[float32]) error {
	if len(slots) != len(queries) {
		return fmt.Errorf("summing gradients: %d slots for %d queries", len(slots), len(queries))
	}
	if len(slots) == 0 {
		return errors.New("summing gradients: a batch without queries")
	}
	d, s := w.configuration.Dim, &w.summation
	s.attach(len(w.layers), into)
	s.embeddings = s.embeddings[:0]
	query := into.Data("query.weight")
	clear(query)
	for i, slot := range slots {
		s.embeddings = append(s.embeddings, w.Query(queries[i])...)
		k.Add(query[int(queries[i])*d:int(queries[i]+1)*d], slot.Query)
	}
	if w.priority != nil {
		sumPriorities(k, slots, into)
	}
	size, share := w.relations*d, len(slots)*d
	if !w.configuration.Dependent {
		share = 0
	}
	parts := (size + sumPart - 1) / sumPart
	s.shares = grow(s.shares, len(w.layers)*parts*share)
	tasks := len(w.layers) * (1 + parts)
	threads := threads(tasks)
	s.threads = extend(s.threads, threads)
	each(threads, tasks, func(thread, task int) {
		t, part := task/(1+parts), task%(1+parts)-1
		if part < 0 {
			w.sumLayer(k, &s.threads[thread], t, slots)
			return
		}
		lo := part * sumPart
		w.sumRelations(k, &s.threads[thread], t, lo, min(lo+sumPart, size), slots, s.shares[(t*parts+part)*share:][:share])
	})
	if w.configuration.Dependent {
		total := s.shares[:share]
		for at := share; at < len(s.shares); at += share { // in the order of layers and parts
			k.Add(total, s.shares[at:at+share])
		}
		for i, relation := range queries {
			k.Add(query[int(relation)*d:int(relation+1)*d], total[i*d:(i+1)*d])
		}
	}
	return nil
}

// attach looks up where each layer's gradients go.
func (s *summation) attach(layers int, into *parameters.Set[float32]) {
	s.layers = grow(s.layers, layers)
	for i := range s.layers {
		t := i + 1
		s.layers[i] = layerSums{
			weight: into.Layer(t, "linear.weight"), bias: into.Layer(t, "linear.bias"),
			scale: into.Layer(t, "layer_norm.weight"), shift: into.Layer(t, "layer_norm.bias"),
			degree:      into.Layer(t, "degree"),
			relation:    into.Layer(t, "relation.weight"),
			relationMap: into.Layer(t, "relation_linear.weight"), relationAdd: into.Layer(t, "relation_linear.bias"),
		}
	}
}

// sumLayer sums a layer's gradients, but for its relations. Those of the linear map are
// summed as they are, and turned to the stored layout once.
func (w *Weights) sumLayer(k kernel.Kernel, thread *sumThread, t int, slots []*Gradients) {
	into, d := &w.summation.layers[t], w.configuration.Dim
	for _, sum := range [][]float32{into.bias, into.scale, into.shift, into.degree} {
		clear(sum)
	}
	for _, slot := range slots {
		g := &slot.layers[t]
		k.Add(into.bias, g.bias)
		k.Add(into.scale, g.scale)
		k.Add(into.shift, g.shift)
		k.Add(into.degree, g.degree)
	}
	for scaler := range w.scalerCount() {
		thread.total = grow(thread.total, w.width()*d)
		sumMaps(k, thread.total, t, scaler, slots)
		thread.turned[scaler] = grow(thread.turned[scaler], w.width()*d)
		k.Transpose(thread.turned[scaler], thread.total, w.width(), d)
	}
	w.setLinear(into.weight, &thread.turned)
}

// sumMaps sets total to the sum of the gradients of a layer's linear map under a scaler.
func sumMaps(k kernel.Kernel, total []float32, t, scaler int, slots []*Gradients) {
	const part = 1 << 12 // of which the sum stays in the nearest cache
	for lo := 0; lo < len(total); lo += part {
		hi := min(lo+part, len(total))
		copy(total[lo:hi], slots[0].layers[t].maps[scaler][lo:hi])
		for _, slot := range slots[1:] {
			k.Add(total[lo:hi], slot.layers[t].maps[scaler][lo:hi])
		}
	}
}

// setLinear sets the gradient of a stored weight, [dim, dim + update], whose entries
// Weights.feature explains, to that of the linear map, by scaler [dim, width].
func (w *Weights) setLinear(weight []float32, gradient *[3][]float32) {
	d, width := w.configuration.Dim, w.width()
	columns := d + w.configuration.UpdateWidth()
	for i := range d {
		row, first := weight[i*columns:(i+1)*columns], gradient[0][i*width:(i+1)*width]
		if w.configuration.Aggregate != configuration.AggregatePNA {
			copy(row, first)
			continue
		}
		copy(row, first[:d])
		second, third := gradient[1][i*width:(i+1)*width], gradient[2][i*width:(i+1)*width]
		for j := range d {
			for a := range 4 {
				to, from := row[d+(j*4+a)*3:][:3], (1+a)*d+j
				to[0], to[1], to[2] = first[from], second[from], third[from]
			}
		}
	}
}

// sumRelations sums gradients lo to hi of a layer's relation embeddings; or of the map that
// makes them, and then sets share, [slots, dim], to those of the queries' embeddings that
// this part of it maps. There the batch is one matrix product each, which takes the queries
// in order.
func (w *Weights) sumRelations(k kernel.Kernel, thread *sumThread, t, lo, hi int, slots []*Gradients, share []float32) {
	into, d, n := &w.summation.layers[t], w.configuration.Dim, hi-lo
	if into.relation != nil {
		clear(into.relation[lo:hi])
		for _, slot := range slots {
			k.Add(into.relation[lo:hi], slot.layers[t].relation[lo:hi])
		}
		return
	}
	thread.stacked = grow(thread.stacked, len(slots)*n)
	clear(into.relationAdd[lo:hi])
	for i, slot := range slots {
		k.Add(into.relationAdd[lo:hi], slot.layers[t].relation[lo:hi])
		copy(thread.stacked[i*n:(i+1)*n], slot.layers[t].relation[lo:hi])
	}
	k.MultiplyTransposed(into.relationMap[lo*d:hi*d], thread.stacked, w.summation.embeddings, len(slots), n, d, false)
	k.Multiply(share, thread.stacked, w.layers[t].relationMap[lo*d:hi*d], len(slots), n, d, false)
}
