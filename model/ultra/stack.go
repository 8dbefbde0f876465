package ultra

import (
	"slices"

	"tagnet/model/internal/buffer"
	"tagnet/model/kernel"
)

// stack is the six layers of one part of the model over a table of rows, entities or relations, with a backward pass. Of a
// forward pass it keeps the states after each layer; the backward pass computes everything else again, block by block.
type stack struct {
	kernel  kernel.Kernel
	senders kernel.Senders
	// needed are the rows whose states after each layer, from 1, are computed, ascending.
	needed [Layers + 1][]int32
	// far lists the rows needed after layer 1 that receive only zeros in it and have a zero state before it. Their states are equal
	// and computed once, for the first of them. near lists the other rows and that first one.
	near, far []int32
	// source is the row whose boundary is initial, [64]. The others' are zeros.
	source  int32
	initial []float32

	states    [Layers + 1][]float32 // after each layer, [n, 64]
	gradients [2][]float32          // of the states after and before a layer
	buffers   *buffers
}

// layerGradients has the gradients of a layer's parameters, in the layout of the files.
type layerGradients struct {
	weight, bias, scale, shift []float32
}

// resize allocates the states of n rows.
func (s *stack) resize(n int) {
	for t := range s.states {
		s.states[t] = buffer.Resize(s.states[t], n*Dim)
	}
	for i := range s.gradients {
		s.gradients[i] = buffer.Resize(s.gradients[i], n*Dim)
	}
}

// start sets the states before the first layer.
func (s *stack) start(source int32, initial []float32) {
	clear(s.states[0])
	s.source, s.initial = source, initial
	copy(rowOf(s.states[0], source), initial)
}

// forward computes the states after layer t, from 1, whose messages are multiplied by the rows of a table.
func (s *stack) forward(t int, weights *layer, table []float32) {
	s.each(t, weights, table, func(u update) { s.buffers.run(s.kernel, u) })
	if t == 1 {
		for _, row := range s.far {
			copy(rowOf(s.states[1], row), rowOf(s.states[1], s.far[0]))
		}
	}
}

// each calls do for the rows before the source, the source, and the rows after it.
func (s *stack) each(t int, weights *layer, table []float32, do func(u update)) {
	rows := s.needed[t]
	if t == 1 {
		rows = s.near
	}
	u := update{layer: weights, receivers: receivers(s.senders, s.states[t-1], table), output: s.states[t]}
	u.receivers.Previous = s.states[t-1]
	at, found := slices.BinarySearch(rows, s.source)
	after := at
	if found {
		after++
	}
	for i, part := range [][]int32{rows[:at], rows[at:after], rows[after:]} {
		u.receivers.Rows, u.receivers.Initial = part, nil
		if i == 1 {
			u.receivers.Initial = s.initial
		}
		do(u)
	}
}

// beginBackward clears the gradient of the final states and returns it.
func (s *stack) beginBackward() []float32 {
	s.clear(s.gradients[0], Layers)
	return s.gradients[0]
}

// clear clears the rows of a table that are needed after layer t, and the source's.
func (s *stack) clear(table []float32, t int) {
	clear(rowOf(table, s.source))
	for _, row := range s.needed[t] {
		clear(rowOf(table, row))
	}
}

// backward propagates the gradient of the states after layer t, the first of gradients, to those before it, which then are the
// first; of those before layer 1 only the source's is known. It adds to the gradients of the layer's parameters, of the table, and of the boundary.
func (s *stack) backward(t int, weights *layer, into *layerGradients, table, byTable, byInitial []float32) {
	after, before := s.gradients[0], s.gradients[1]
	s.clear(before, t-1)
	if t == 1 && len(s.far) > 0 {
		for _, row := range s.far[1:] {
			s.kernel.Add(rowOf(after, s.far[0]), rowOf(after, row))
		}
	}
	to := kernel.Gradients{States: before, RelationEmbeddings: byTable, Previous: before, Initial: byInitial}
	s.each(t, weights, table, func(u update) { s.buffers.runBackward(s.kernel, u, after, into, to) })
	s.gradients[0], s.gradients[1] = before, after
}
