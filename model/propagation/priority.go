package propagation

import (
	"tagnet/model/internal/buffer"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// priorityWeights are the weights of A*Net's score function
// f(x, x_q) = mlp(MSG(x, linear([x, x_q]))): transposed for the forward pass, and as stored for the
// backward pass.
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

// forwardPriority sets priorities, [n], to f of the states, [n, dim]. It sets inner, [n, dim], and
// hidden, [n, 2 dim], for the backward pass.
func (a *astar) forwardPriority(states, inner, hidden, priorities []float32) {
	w, k, d := a.propagator.weights.priority, a.propagator.kernel, a.propagator.configuration.Dim
	n := len(priorities)
	copyRows(inner[:n*d], a.query)
	k.Multiply(inner, states, w.state, n, d, d, true)
	a.messages = buffer.Resize(a.messages, n*d)
	for i := 0; i < n*d; i += d {
		a.propagator.message.Compute(a.messages[i:i+d], states[i:i+d], inner[i:i+d])
	}
	copyRows(hidden[:2*n*d], w.hiddenBias)
	k.Multiply(hidden, a.messages, w.hidden, n, d, 2*d, true)
	for i := range n {
		row := hidden[2*i*d : 2*(i+1)*d]
		sum := w.outputBias[0]
		for j, value := range row {
			row[j] = max(value, 0)
			sum += row[j] * w.output[j]
		}
		priorities[i] = sum
	}
}

// backwardPriority propagates the gradient of priorities, [n]: it adds to the gradients of the states,
// of the parameters and of the query's embedding.
func (a *astar) backwardPriority(states, inner, hidden, gradient, stateGradient []float32, into *Gradients) {
	p, g := a.propagator, into.priority
	w, k, d := p.weights.priority, p.kernel, p.configuration.Dim
	n := len(gradient)
	a.messages = buffer.Resize(a.messages, n*d)
	a.hiddenGradient = buffer.Resize(a.hiddenGradient, 2*n*d)
	a.messageGradient = buffer.Resize(a.messageGradient, n*d)
	a.innerGradient = buffer.Cleared(a.innerGradient, n*d)
	for i, value := range gradient {
		g.outputBias[0] += value
		row, rowGradient := hidden[2*i*d:2*(i+1)*d], a.hiddenGradient[2*i*d:2*(i+1)*d]
		for j, active := range row {
			g.output[j] += value * active
			rowGradient[j] = 0
			if active > 0 {
				rowGradient[j] = value * w.output[j]
				g.hiddenBias[j] += rowGradient[j]
			}
		}
		p.message.Compute(a.messages[i*d:(i+1)*d], states[i*d:(i+1)*d], inner[i*d:(i+1)*d])
	}
	k.MultiplyTransposed(g.hidden, a.hiddenGradient, a.messages, n, 2*d, d, true)
	k.Multiply(a.messageGradient, a.hiddenGradient, w.hiddenStored, n, 2*d, d, false)
	for i := 0; i < n*d; i += d {
		p.message.Backward(a.messageGradient[i:i+d], states[i:i+d], inner[i:i+d], stateGradient[i:i+d], a.innerGradient[i:i+d])
		k.Add(a.queryGradient, a.innerGradient[i:i+d])
	}
	k.MultiplyTransposed(g.state, a.innerGradient, states, n, d, d, true)
	k.Multiply(stateGradient, a.innerGradient, w.stateStored, n, d, d, true)
}

// copyRows fills rows with copies of one row.
func copyRows(rows, row []float32) {
	for len(rows) > 0 {
		rows = rows[copy(rows, row):]
	}
}
