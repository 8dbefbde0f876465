package propagation

import (
	"slices"

	"tagnet/model/engine/kernel"
	"tagnet/model/parallel"
	"tagnet/model/weights/parameters"
)

// priorityWeights are the weights of A*Net's score function f(x, x_q) = mlp(MSG(x, linear([x, x_q]))): transposed for
// the forward pass, and as stored for the backward pass.
type priorityWeights struct {
	state, query             []float32 // linear's map of x, and of x_q, [dim, dim] each
	stateStored, queryStored []float32
	bias                     []float32 // [dim]
	hidden                   []float32 // [dim, 2 dim]
	hiddenStored             []float32 // [2 dim, dim]
	hiddenBias               []float32 // [2 dim]
	output                   []float32 // [2 dim]
	outputBias               []float32 // [1]
}

// loadPriority sets the weights of A*Net's priority, split and transposed for the kernel; w is reused unless it is nil.
func loadPriority(k kernel.Kernel, d int, p *parameters.Set[float32], w *priorityWeights) *priorityWeights {
	if w == nil {
		w = &priorityWeights{
			state: make([]float32, d*d), query: make([]float32, d*d),
			stateStored: make([]float32, d*d), queryStored: make([]float32, d*d),
			hidden: make([]float32, 2*d*d),
		}
	}
	linear := p.Data("linear.weight") // [dim, 2 dim]
	for i := range d {
		copy(w.stateStored[i*d:(i+1)*d], linear[2*i*d:])
		copy(w.queryStored[i*d:(i+1)*d], linear[(2*i+1)*d:])
	}
	k.Transpose(w.state, w.stateStored, d, d)
	k.Transpose(w.query, w.queryStored, d, d)
	w.bias = p.Data("linear.bias")
	w.hiddenStored, w.hiddenBias = p.Data("mlp.0.weight"), p.Data("mlp.0.bias")
	k.Transpose(w.hidden, w.hiddenStored, 2*d, d)
	w.output, w.outputBias = p.Data("mlp.2.weight"), p.Data("mlp.2.bias")
	return w
}

// priorityGradients are the gradients of f's parameters for one query, in the stored layouts.
type priorityGradients struct {
	state, query                           []float32 // [dim, dim], as stored
	bias                                   []float32
	hidden, hiddenBias, output, outputBias []float32
}

func newPriorityGradients(d int) *priorityGradients {
	return &priorityGradients{
		state: make([]float32, d*d), query: make([]float32, d*d), bias: make([]float32, d),
		hidden: make([]float32, 2*d*d), hiddenBias: make([]float32, 2*d),
		output: make([]float32, 2*d), outputBias: make([]float32, 1),
	}
}

func (g *priorityGradients) zero() {
	for _, gradient := range [][]float32{g.state, g.query, g.bias, g.hidden, g.hiddenBias, g.output, g.outputBias} {
		clear(gradient)
	}
}

// sumPriorities sets the gradients of f's parameters to the sum over a batch's queries.
func sumPriorities(k kernel.Kernel, batch []*Gradients, into *parameters.Set[float32]) {
	linear := into.Data("linear.weight")
	sums := [...][]float32{into.Data("linear.bias"), into.Data("mlp.0.weight"), into.Data("mlp.0.bias"), into.Data("mlp.2.weight"), into.Data("mlp.2.bias")}
	clear(linear)
	for _, sum := range sums {
		clear(sum)
	}
	for _, query := range batch {
		g := query.priority
		d := len(g.bias)
		for i := range d {
			k.Add(linear[2*i*d:], g.state[i*d:(i+1)*d])
			k.Add(linear[(2*i+1)*d:], g.query[i*d:(i+1)*d])
		}
		for i, gradient := range [...][]float32{g.bias, g.hidden, g.hiddenBias, g.output, g.outputBias} {
			k.Add(sums[i], gradient)
		}
	}
}

// priorityBlock holds what f computes of up to chunkRows states, and its gradients.
type priorityBlock struct {
	inner, messages []float32 // linear's output, and the messages under it, [chunkRows, dim]
	hidden          []float32 // of the MLP, [chunkRows, 2 dim]

	values                                                 []float32 // gradient of the priorities, [chunkRows]
	states, stateGradient                                  []float32 // [chunkRows, dim], as the next ones
	messageGradient, innerGradient, active, hiddenGradient []float32
}

// ones is a row of chunkRows ones: its product with a matrix sums the columns.
var ones = slices.Repeat([]float32{1}, chunkRows)

// mapStates sets inner, messages and hidden of the block from n states. hidden is before the ReLU.
func (a *astar) mapStates(states []float32, n int) {
	w, k, d, b := a.runner.weights.priority, a.runner.kernel, a.runner.configuration.Dim, &a.block
	b.inner, b.messages, b.hidden = parallel.Resize(b.inner, n*d), parallel.Resize(b.messages, n*d), parallel.Resize(b.hidden, 2*n*d)
	copyRows(b.inner, a.query)
	k.Multiply(b.inner, states, w.state, kernel.Product{Rows: n, Inner: d, Columns: d, Add: true})
	if message := a.runner.message; message == kernel.DistMult {
		k.Product(b.messages, states, b.inner)
	} else {
		for i := 0; i < n*d; i += d {
			message.Compute(b.messages[i:i+d], states[i:i+d], b.inner[i:i+d])
		}
	}
	copyRows(b.hidden, w.hiddenBias)
	k.Multiply(b.hidden, b.messages, w.hidden, kernel.Product{Rows: n, Inner: d, Columns: 2 * d, Add: true})
}

// forwardPriority sets priorities, [n], to f of the states, [n, dim], of at most chunkRows versions.
func (a *astar) forwardPriority(states, priorities []float32) {
	w, width := a.runner.weights.priority, 2*a.runner.configuration.Dim
	a.mapStates(states, len(priorities))
	hidden := a.block.hidden
	a.runner.kernel.ReLU(hidden, hidden)
	// Four sums at a time, each in the order of its entries: one would wait for its last addition.
	for len(priorities) >= 4 {
		r0, r1, r2, r3 := hidden[:width], hidden[width:2*width], hidden[2*width:3*width], hidden[3*width:4*width]
		s0, s1, s2, s3 := w.outputBias[0], w.outputBias[0], w.outputBias[0], w.outputBias[0]
		for j, output := range w.output[:width] {
			s0 += float32(r0[j] * output)
			s1 += float32(r1[j] * output)
			s2 += float32(r2[j] * output)
			s3 += float32(r3[j] * output)
		}
		priorities[0], priorities[1], priorities[2], priorities[3] = s0, s1, s2, s3
		hidden, priorities = hidden[4*width:], priorities[4:]
	}
	for i := range priorities {
		sum := w.outputBias[0]
		for j, value := range hidden[i*width : (i+1)*width] {
			sum += float32(value * w.output[j])
		}
		priorities[i] = sum
	}
}

// backwardPriority propagates the gradients of the priorities of some rows, at most chunkRows, of the
// versions from first on: it adds to the gradients of the states, of the parameters and of the query's embedding.
func (a *astar) backwardPriority(first int, rows []int32, into *Gradients) {
	p, g, b := a.runner, into.priority, &a.block
	w, k, d, n := p.weights.priority, p.kernel, p.configuration.Dim, len(rows)
	b.values, b.states = parallel.Resize(b.values, n), parallel.Resize(b.states, n*d)
	// Gather the rows' states and gradients, and compute the forward pass again.
	for i, row := range rows {
		version := first + int(row)
		b.values[i] = a.priorityGradients[version]
		g.outputBias[0] += b.values[i]
		copy(b.states[i*d:(i+1)*d], a.states[version*d:])
	}
	a.mapStates(b.states, n)
	// Through the MLP to the message.
	b.active, b.hiddenGradient = parallel.Resize(b.active, 2*n*d), parallel.Resize(b.hiddenGradient, 2*n*d)
	k.ReLU(b.active, b.hidden)
	k.Multiply(g.output, b.values, b.active, kernel.Product{Rows: 1, Inner: n, Columns: 2 * d, Add: true})
	k.Multiply(b.hiddenGradient, b.values, w.output, kernel.Product{Rows: n, Inner: 1, Columns: 2 * d})
	k.ReLUBackward(b.hiddenGradient, b.hidden, b.hiddenGradient)
	k.Multiply(g.hiddenBias, ones, b.hiddenGradient, kernel.Product{Rows: 1, Inner: n, Columns: 2 * d, Add: true})
	k.MultiplyTransposed(g.hidden, b.hiddenGradient, b.messages, kernel.Product{Rows: n, Inner: 2 * d, Columns: d, Add: true})

	b.messageGradient = parallel.Resize(b.messageGradient, n*d)
	b.stateGradient, b.innerGradient = parallel.Resize(b.stateGradient, n*d), parallel.Resize(b.innerGradient, n*d)
	k.Multiply(b.messageGradient, b.hiddenGradient, w.hiddenStored, kernel.Product{Rows: n, Inner: 2 * d, Columns: d})
	// Through the message to the state and to the linear map of state and query.
	if p.message == kernel.DistMult {
		k.Product(b.stateGradient, b.messageGradient, b.inner)
		k.Product(b.innerGradient, b.messageGradient, b.states)
	} else {
		clear(b.stateGradient)
		clear(b.innerGradient)
		for i := 0; i < n*d; i += d {
			p.message.Backward(b.messageGradient[i:i+d], b.states[i:i+d], b.inner[i:i+d], b.stateGradient[i:i+d], b.innerGradient[i:i+d])
		}
	}
	// Through the linear map; the query's half is the same for all rows.
	k.Multiply(a.queryGradient, ones, b.innerGradient, kernel.Product{Rows: 1, Inner: n, Columns: d, Add: true})
	k.MultiplyTransposed(g.state, b.innerGradient, b.states, kernel.Product{Rows: n, Inner: d, Columns: d, Add: true})
	k.Multiply(b.stateGradient, b.innerGradient, w.stateStored, kernel.Product{Rows: n, Inner: d, Columns: d, Add: true})
	for i, row := range rows {
		version := first + int(row)
		k.Add(a.stateGradients[version*d:(version+1)*d], b.stateGradient[i*d:(i+1)*d])
	}
}

// copyRows fills rows with copies of one row.
func copyRows(rows, row []float32) {
	for len(rows) > 0 {
		rows = rows[copy(rows, row):]
	}
}
