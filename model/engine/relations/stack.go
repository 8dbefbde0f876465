package relations

import (
	"tagnet/model/engine/kernel"
	"tagnet/model/parallel"
)

// stack computes layers of messages between rows of a table. A layer's update is x + relu(layer_norm(W [x, total] +
// b)), where total is the sum of messages and boundary. It works in blocks of rows, and a forward pass keeps only the
// states after each layer: the backward pass computes sums and products again.
type stack struct {
	kernel  kernel.Kernel
	dim     int
	buffers *stackBuffers

	senders kernel.Senders // of the graph that the layers send along
	rows    []int32        // 0, 1, 2, ..
	// source is the row whose boundary is initial, [dim]. All other rows have zeros.
	source  int32
	initial []float32

	states    [][]float32  // after each layer, [n, dim]
	gradients [2][]float32 // of the states after and before a layer
}

// newStack returns a stack of layers over n rows of dim entries.
func newStack(k kernel.Kernel, senders kernel.Senders, n, dim, layers int) *stack {
	s := &stack{kernel: k, dim: dim, buffers: newStackBuffers(dim), senders: senders, rows: parallel.Indices[int32](n), states: make([][]float32, layers+1)}
	for t := range s.states {
		s.states[t] = make([]float32, n*dim)
	}
	for i := range s.gradients {
		s.gradients[i] = make([]float32, n*dim)
	}
	return s
}

// after returns the states after a layer, [n, dim].
func (s *stack) after(layer int) []float32 { return s.states[layer] }

// start sets the states before the first layer.
func (s *stack) start(source int32, initial []float32) {
	clear(s.states[0])
	s.source, s.initial = source, initial
	copy(row(s.states[0], s.dim, source), initial)
}

// forward computes the states after layer t, from 1, whose messages are multiplied by the rows of a table.
func (s *stack) forward(t int, weights *layer, table []float32) {
	s.each(t, weights, table, func(u update) { s.buffers.run(s.kernel, u) })
}

// each calls work for the rows before the source, the source, and the rows after it.
func (s *stack) each(t int, weights *layer, table []float32, work func(u update)) {
	u := update{layer: weights, receivers: receivers(s.dim, s.senders, s.states[t-1], table), output: s.states[t]}
	u.receivers.Previous = s.states[t-1]
	for i, part := range [][]int32{s.rows[:s.source], s.rows[s.source : s.source+1], s.rows[s.source+1:]} {
		u.receivers.Rows, u.receivers.Initial = part, nil
		if i == 1 {
			u.receivers.Initial = s.initial
		}
		work(u)
	}
}

// beginBackward clears the gradient of the final states and returns it.
func (s *stack) beginBackward() []float32 {
	clear(s.gradients[0])
	return s.gradients[0]
}

// backward propagates the gradient of the states after layer t, the first of gradients, to the states before it, which
// becomes the first. It adds to the gradients of the layer's parameters, of the table, and of the boundary.
func (s *stack) backward(t int, weights *layer, into *layerGradients, table, gradTable, gradInitial []float32) {
	after, before := s.gradients[0], s.gradients[1]
	clear(before)
	to := kernel.Gradients{States: before, RelationEmbeddings: gradTable, Previous: before, Initial: gradInitial}
	s.each(t, weights, table, func(u update) { s.buffers.runBackward(s.kernel, u, after, into, to) })
	s.gradients[0], s.gradients[1] = before, after
}
