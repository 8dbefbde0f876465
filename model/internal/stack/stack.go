package stack

import "tagnet/model/kernel"

// Stack is layers over a table of rows with a backward pass. Of a
// forward pass it keeps the states after each layer; the backward pass computes everything else again, block by block.
type Stack struct {
	kernel  kernel.Kernel
	dim     int
	buffers *buffers

	senders kernel.Senders // of the graph that the layers send along
	rows    []int32        // 0, 1, 2, ..
	// source is the row whose boundary is initial, [dim]. The others' are zeros.
	source  int32
	initial []float32

	states    [][]float32  // after each layer, [n, dim]
	gradients [2][]float32 // of the states after and before a layer
}

// New returns a stack of so many layers over n rows of dim entries.
func New(k kernel.Kernel, senders kernel.Senders, n, dim, layers int) *Stack {
	s := &Stack{kernel: k, dim: dim, buffers: newBuffers(dim), senders: senders, rows: make([]int32, n), states: make([][]float32, layers+1)}
	for i := range s.rows {
		s.rows[i] = int32(i)
	}
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

// Start sets the states before the first layer.
func (s *Stack) Start(source int32, initial []float32) {
	clear(s.states[0])
	s.source, s.initial = source, initial
	copy(Row(s.states[0], s.dim, source), initial)
}

// Forward computes the states after layer t, from 1, whose messages are multiplied by the rows of a table.
func (s *Stack) Forward(t int, weights *Layer, table []float32) {
	s.each(t, weights, table, func(u update) { s.buffers.run(s.kernel, u) })
}

// each calls do for the rows before the source, the source, and the rows after it.
func (s *Stack) each(t int, weights *Layer, table []float32, do func(u update)) {
	u := update{Layer: weights, receivers: receivers(s.dim, s.senders, s.states[t-1], table), output: s.states[t]}
	u.receivers.Previous = s.states[t-1]
	for i, part := range [][]int32{s.rows[:s.source], s.rows[s.source : s.source+1], s.rows[s.source+1:]} {
		u.receivers.Rows, u.receivers.Initial = part, nil
		if i == 1 {
			u.receivers.Initial = s.initial
		}
		do(u)
	}
}

// BeginBackward clears the gradient of the final states and returns it.
func (s *Stack) BeginBackward() []float32 {
	clear(s.gradients[0])
	return s.gradients[0]
}

// Backward propagates the gradient of the states after layer t, the first of gradients, to those before it, which then are the
// first. It adds to the gradients of the layer's parameters, of the table, and of the boundary.
func (s *Stack) Backward(t int, weights *Layer, into *LayerGradients, table, byTable, byInitial []float32) {
	after, before := s.gradients[0], s.gradients[1]
	clear(before)
	to := kernel.Gradients{States: before, RelationEmbeddings: byTable, Previous: before, Initial: byInitial}
	s.each(t, weights, table, func(u update) { s.buffers.runBackward(s.kernel, u, after, into, to) })
	s.gradients[0], s.gradients[1] = before, after
}
