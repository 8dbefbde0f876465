package propagation

import (
	"errors"
	"fmt"
	"runtime"

	"tagnet/model/configuration"
	"tagnet/model/internal/buffer"
	"tagnet/model/kernel"
	"tagnet/model/parallel"
	"tagnet/model/parameters"
)

// summation holds the buffers of Sum.
type summation struct {
	layers     []layerSums
	embeddings []float32 // of the queries, [batch, dim]
	// embeddingGradients are those of the queries' embeddings through each block of each layer's
	// relation map, [layers, blocks, batch, dim].
	embeddingGradients []float32
	workers            []sumWorker
}

// layerSums are the sums of a layer's gradients, nil where the model has no such parameter.
type layerSums struct {
	weight, bias, scale, shift, degree  []float32
	relation, relationMap, relationBias []float32
}

type sumWorker struct {
	stacked    []float32    // a block of the queries' relation gradients, [batch, block]
	total      []float32    // of a layer's linear map under one scaler, [width, dim]
	transposed [3][]float32 // the same by scaler, [dim, width]
}

// sumBlock is how many of a layer's 2R dim relation gradients are summed and mapped at a time. Like
// embedBlock it fits a cache and is no power of two.
const sumBlock = 1008

// Sum sets the gradients of the propagation's parameters in into to the sum over a batch, in the order
// of its queries, and leaves those of the head's parameters alone. queries holds the relation of each
// query. No bit depends on the number of threads. Sum uses buffers of w, so it is not for concurrent
// use with the same weights.
func Sum(k kernel.Kernel, w *Weights, batch []*Gradients, queries []int32, into *parameters.Set[float32]) error {
	if len(batch) != len(queries) {
		return fmt.Errorf("summing gradients: gradients of %d queries, want %d", len(batch), len(queries))
	}
	if len(batch) == 0 {
		return errors.New("summing gradients: the batch has no queries")
	}
	d, s := w.configuration.Dim, &w.summation
	s.attach(len(w.layers), into)
	s.embeddings = s.embeddings[:0]
	query := into.Data("query.weight")
	clear(query)
	for i, g := range batch {
		s.embeddings = append(s.embeddings, w.Query(queries[i])...)
		k.Add(query[int(queries[i])*d:int(queries[i]+1)*d], g.Query)
	}
	if w.priority != nil {
		sumPriorities(k, batch, into)
	}
	w.sumLayers(k, batch)
	if !w.configuration.Dependent {
		return nil
	}
	total := s.embeddingGradients[:len(batch)*d]
	for rest := s.embeddingGradients[len(total):]; len(rest) > 0; rest = rest[len(total):] { // in the order of layers and blocks
		k.Add(total, rest[:len(total)])
	}
	for i, relation := range queries {
		k.Add(query[int(relation)*d:int(relation+1)*d], total[i*d:(i+1)*d])
	}
	return nil
}

// sumLayers sums the gradients of all layers: one task for each layer's linear map and vectors, and
// one for each block of its relations.
func (w *Weights) sumLayers(k kernel.Kernel, batch []*Gradients) {
	s, size, perBlock := &w.summation, w.relations*w.configuration.Dim, len(batch)*w.configuration.Dim
	if !w.configuration.Dependent {
		perBlock = 0
	}
	blocks := (size + sumBlock - 1) / sumBlock
	s.embeddingGradients = buffer.Resize(s.embeddingGradients, len(w.layers)*blocks*perBlock)
	tasks := len(w.layers) * (1 + blocks)
	workers := min(runtime.GOMAXPROCS(0), tasks)
	s.workers = buffer.Extend(s.workers, workers)
	parallel.Workers(workers, tasks, func(worker, task int) {
		t, block := task/(1+blocks), task%(1+blocks)-1
		if block < 0 {
			w.sumLayer(k, &s.workers[worker], t, batch)
			return
		}
		lo := block * sumBlock
		w.sumRelations(k, &s.workers[worker], t, lo, min(lo+sumBlock, size), batch, s.embeddingGradients[(t*blocks+block)*perBlock:][:perBlock])
	})
}

// attach looks up the tensors of each layer's sums.
func (s *summation) attach(layers int, into *parameters.Set[float32]) {
	s.layers = buffer.Resize(s.layers, layers)
	for i := range s.layers {
		t := i + 1
		s.layers[i] = layerSums{
			weight: into.Layer(t, "linear.weight"), bias: into.Layer(t, "linear.bias"),
			scale: into.Layer(t, "layer_norm.weight"), shift: into.Layer(t, "layer_norm.bias"),
			degree:      into.Layer(t, "degree"),
			relation:    into.Layer(t, "relation.weight"),
			relationMap: into.Layer(t, "relation_linear.weight"), relationBias: into.Layer(t, "relation_linear.bias"),
		}
	}
}

// sumLayer sums a layer's gradients, except those of its relations. Those of the linear map are
// summed in the queries' layout and transposed to the stored one once.
func (w *Weights) sumLayer(k kernel.Kernel, worker *sumWorker, t int, batch []*Gradients) {
	into, d := &w.summation.layers[t], w.configuration.Dim
	for _, sum := range [][]float32{into.bias, into.scale, into.shift, into.degree} {
		clear(sum)
	}
	for _, query := range batch {
		g := &query.layers[t]
		k.Add(into.bias, g.bias)
		k.Add(into.scale, g.scale)
		k.Add(into.shift, g.shift)
		k.Add(into.degree, g.degree)
	}
	for scaler := range w.scalerCount() {
		worker.total = buffer.Resize(worker.total, w.width()*d)
		sumMaps(k, worker.total, t, scaler, batch)
		worker.transposed[scaler] = buffer.Resize(worker.transposed[scaler], w.width()*d)
		k.Transpose(worker.transposed[scaler], worker.total, w.width(), d)
	}
	w.setLinear(into.weight, &worker.transposed)
}

// sumMaps sets total to the sum of the gradients of a layer's linear map under a scaler.
func sumMaps(k kernel.Kernel, total []float32, t, scaler int, batch []*Gradients) {
	const block = 1 << 12 // whose sum stays in the first-level cache
	for lo := 0; lo < len(total); lo += block {
		hi := min(lo+block, len(total))
		copy(total[lo:hi], batch[0].layers[t].maps[scaler][lo:hi])
		for _, query := range batch[1:] {
			k.Add(total[lo:hi], query.layers[t].maps[scaler][lo:hi])
		}
	}
}

// setLinear sets the gradient of a stored weight, [dim, dim + update], from those of the linear map by
// scaler, [dim, width] each. Weights.feature explains the order of a stored weight's entries.
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

// sumRelations sums gradients lo to hi of a layer's relation embeddings. Where these depend on the
// query, it sums the gradients of the map that yields them, and sets embeddingGradients, [batch, dim],
// to those of the queries' embeddings through these outputs of the map. Each is one matrix product for
// the batch, which adds the queries in order.
func (w *Weights) sumRelations(k kernel.Kernel, worker *sumWorker, t, lo, hi int, batch []*Gradients, embeddingGradients []float32) {
	into, d, n := &w.summation.layers[t], w.configuration.Dim, hi-lo
	if into.relation != nil {
		clear(into.relation[lo:hi])
		for _, query := range batch {
			k.Add(into.relation[lo:hi], query.layers[t].relation[lo:hi])
		}
		return
	}
	worker.stacked = buffer.Resize(worker.stacked, len(batch)*n)
	clear(into.relationBias[lo:hi])
	for i, query := range batch {
		k.Add(into.relationBias[lo:hi], query.layers[t].relation[lo:hi])
		copy(worker.stacked[i*n:(i+1)*n], query.layers[t].relation[lo:hi])
	}
	k.MultiplyTransposed(into.relationMap[lo*d:hi*d], worker.stacked, w.summation.embeddings, len(batch), n, d, false)
	k.Multiply(embeddingGradients, worker.stacked, w.layers[t].relationMap[lo*d:hi*d], len(batch), n, d, false)
}
