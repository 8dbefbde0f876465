package propagation

import (
	"errors"
	"fmt"
	"runtime"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// summation holds the buffers of Sum.
type summation struct {
	layers    []layerSums
	relations []relations.Gradient // of the batch
	workers   []sumWorker
}

// layerSums are the sums of a layer's gradients, nil where the model has no such parameter.
type layerSums struct {
	weight, bias, scale, shift, degree []float32
}

// sumWorker holds the buffers of a thread.
type sumWorker struct {
	total      []float32    // of a layer's linear map under one scaler, [width, dim]
	transposed [3][]float32 // the same by scaler, [dim, width]
}

// Sum sets the gradients of the propagation's parameters in into to the sum over a batch, in the order
// of its queries, and leaves the gradients of the head's parameters alone. queries holds the relation of each
// query. No bit depends on the number of threads. Sum uses buffers of w, so it is not for concurrent
// use with the same weights.
func Sum(k kernel.Kernel, w *Weights, batch []*Gradients, queries []int32, into *parameters.Set[float32]) error {
	if len(batch) != len(queries) {
		return fmt.Errorf("summing gradients: gradients of %d queries, want %d", len(batch), len(queries))
	}
	if len(batch) == 0 {
		return errors.New("summing gradients: the batch has no queries")
	}
	s := &w.summation
	s.attach(len(w.layers), into)
	if w.priority != nil {
		sumPriorities(k, batch, into)
	}
	workers := min(runtime.GOMAXPROCS(0), len(w.layers))
	s.workers = parallel.Extend(s.workers, workers)
	parallel.Workers(workers, len(w.layers), func(worker, t int) { w.sumLayer(k, &s.workers[worker], t, batch) })
	s.relations = s.relations[:0]
	for _, g := range batch {
		s.relations = append(s.relations, g.Gradient)
	}
	w.Relations.Backward(queries, s.relations, into)
	return nil
}

// attach looks up the tensors of each layer's sums.
func (s *summation) attach(layers int, into *parameters.Set[float32]) {
	s.layers = parallel.Resize(s.layers, layers)
	for i := range s.layers {
		t := i + 1
		s.layers[i] = layerSums{
			weight: into.Layer(t, "linear.weight"), bias: into.Layer(t, "linear.bias"),
			scale: into.Layer(t, "layer_norm.weight"), shift: into.Layer(t, "layer_norm.bias"),
			degree: into.Layer(t, "degree"),
		}
	}
}

// sumLayer sums a layer's gradients, except its relations'. The gradients of the linear map are
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
		worker.total = parallel.Resize(worker.total, w.width()*d)
		sumMaps(k, worker.total, t, scaler, batch)
		worker.transposed[scaler] = parallel.Resize(worker.transposed[scaler], w.width()*d)
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

// setLinear sets the gradient of a stored weight, [dim, dim + update], given the gradients of the linear map by
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
