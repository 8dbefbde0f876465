package stack

import (
	"slices"

	"tagnet/model/kernel"
)

// Stack is layers over a table of rows, entities or relations, with a backward pass. Of a
// forward pass it keeps the states after each layer; the backward pass computes everything else again, block by block.
type Stack struct {
	kernel  kernel.Kernel
	dim     int
	buffers *Buffers

	// Senders are those of the graph that the layers send along.
	Senders kernel.Senders
	// Needed are the rows whose states after each layer, from 1, are computed, ascending.
	Needed [][]int32
	// Far lists the rows needed after layer 1 that receive only zeros in it and have a zero state before it. Their states are equal
	// and computed once, for the first of them. Near lists the other rows and that first one.
	Near, Far []int32
	// source is the row whose boundary is initial, [dim]. The others' are zeros.
	source  int32
	initial []float32

	states    [][]float32  // after each layer, [n, dim]
	gradients [2][]float32 // of the states after and before a layer
}

// New returns a stack of so many layers over n rows of dim entries.
func New(k kernel.Kernel, senders kernel.Senders, n, dim, layers int, b *Buffers) *Stack {
	s := &Stack{kernel: k, dim: dim, buffers: b, Senders: senders, Needed: make([][]int32, layers+1), states: make([][]float32, layers+1)}
	for t := range s.states {
		s.states[t] = make([]float32, n*dim)
	}
	for i := range s.gradients {
		s.gradients[i] = make([]float32, n*dim)
	}
	return s
}

// States returns the states after a layer, [n, dim].
func (s *Stack) States(layer int) []float32 { return s.states[layer] }

// Source returns the row that Start has named.
func (s *Stack) Source() int32 { return s.source }

// Start sets the states before the first layer.
func (s *Stack) Start(source int32, initial []float32) {
	clear(s.states[0])
	s.source, s.initial = source, initial
	copy(Row(s.states[0], s.dim, source), initial)
}

// Forward computes the states after layer t, from 1, whose messages are multiplied by the rows of a table.
func (s *Stack) Forward(t int, weights *Layer, table []float32) {
	s.each(t, weights, table, func(u Update) { s.buffers.Run(s.kernel, u) })
	if t == 1 {
		for _, row := range s.Far {
			copy(Row(s.states[1], s.dim, row), Row(s.states[1], s.dim, s.Far[0]))
		}
	}
}

// each calls do for the rows before the source, the source, and the rows after it.
func (s *Stack) each(t int, weights *Layer, table []float32, do func(u Update)) {
	rows := s.Needed[t]
	if t == 1 {
		rows = s.Near
	}
	u := Update{Layer: weights, Receivers: Receivers(s.dim, s.Senders, s.states[t-1], table), Output: s.states[t]}
	u.Receivers.Previous = s.states[t-1]
	at, found := slices.BinarySearch(rows, s.source)
	after := at
	if found {
		after++
	}
	for i, part := range [][]int32{rows[:at], rows[at:after], rows[after:]} {
		u.Receivers.Rows, u.Receivers.Initial = part, nil
		if i == 1 {
			u.Receivers.Initial = s.initial
		}
		do(u)
	}
}

// BeginBackward clears the gradient of the final states and returns it.
func (s *Stack) BeginBackward() []float32 {
	s.clear(s.gradients[0], len(s.states)-1)
	return s.gradients[0]
}

// SourceGradient returns the gradient of the source's first state, after Backward through all layers, [dim].
func (s *Stack) SourceGradient() []float32 { return Row(s.gradients[0], s.dim, s.source) }

// clear clears the rows of a table that are needed after layer t, and the source's.
func (s *Stack) clear(table []float32, t int) {
	clear(Row(table, s.dim, s.source))
	for _, row := range s.Needed[t] {
		clear(Row(table, s.dim, row))
	}
}

// Backward propagates the gradient of the states after layer t, the first of gradients, to those before it, which then are the
// first; of those before layer 1 only the source's is known. It adds to the gradients of the layer's parameters, of the table, and of the boundary.
func (s *Stack) Backward(t int, weights *Layer, into *LayerGradients, table, byTable, byInitial []float32) {
	after, before := s.gradients[0], s.gradients[1]
	s.clear(before, t-1)
	if t == 1 && len(s.Far) > 0 {
		for _, row := range s.Far[1:] {
			s.kernel.Add(Row(after, s.dim, s.Far[0]), Row(after, s.dim, row))
		}
	}
	to := kernel.Gradients{States: before, RelationEmbeddings: byTable, Previous: before, Initial: byInitial}
	s.each(t, weights, table, func(u Update) { s.buffers.runBackward(s.kernel, u, after, into, to) })
	s.gradients[0], s.gradients[1] = before, after
}
