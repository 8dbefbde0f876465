package propagation

import (
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// priorityWeights are those of A*Net's score function
// f(x, x_q) = mlp(MSG(x, linear([x, x_q]))), transposed.
type priorityWeights struct {
	state, query         []float32 // [dim, dim] each: linear's map of x, and of x_q
	stateBack, queryBack []float32 // the same as they are stored
	bias                 []float32 // [dim]
	hidden               []float32 // [dim, 2 dim]
	hiddenBack           []float32 // [2 dim, dim], as stored
	hiddenBias           []float32 // [2 dim]
	output               []float32 // [2 dim]
	outputBias           []float32 // [1]
}

func loadPriority(k kernel.Kernel, d int, p *parameters.Set[float32], w *priorityWeights) *priorityWeights {
	if w == nil {
		w = &priorityWeights{
			state: make([]float32, d*d), query: make([]float32, d*d),
			stateBack: make([]float32, d*d), queryBack: make([]float32, d*d),
			hidden: make([]float32, 2*d*d),
		}
	}
	linear := p.Data("linear.weight") // [dim, 2 dim]
	for i := range d {
		copy(w.stateBack[i*d:(i+1)*d], linear[2*i*d:])
		copy(w.queryBack[i*d:(i+1)*d], linear[(2*i+1)*d:])
	}
	k.Transpose(w.state, w.stateBack, d, d)
	k.Transpose(w.query, w.queryBack, d, d)
	w.bias = p.Data("linear.bias")
	w.hiddenBack, w.hiddenBias = p.Data("mlp.0.weight"), p.Data("mlp.0.bias")
	k.Transpose(w.hidden, w.hiddenBack, 2*d, d)
	w.output, w.outputBias = p.Data("mlp.2.weight"), p.Data("mlp.2.bias")
	return w
}

// priorityGradients are the gradients of one query, in the layouts of the way back.
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
	for _, part := range [][]float32{g.state, g.query, g.bias, g.hidden, g.hiddenBias, g.output, g.outputBias} {
		clear(part)
	}
}

// sumPriorities sets the gradients of f's parameters to the sum over a batch's queries.
func sumPriorities(k kernel.Kernel, slots []*Gradients, into *parameters.Set[float32]) {
	linear := into.Data("linear.weight")
	sums := [...][]float32{into.Data("linear.bias"), into.Data("mlp.0.weight"), into.Data("mlp.0.bias"), into.Data("mlp.2.weight"), into.Data("mlp.2.bias")}
	clear(linear)
	for _, sum := range sums {
		clear(sum)
	}
	for _, slot := range slots {
		g := slot.priority
		d := len(g.bias)
		for i := range d {
			k.Add(linear[2*i*d:], g.state[i*d:(i+1)*d])
			k.Add(linear[(2*i+1)*d:], g.query[i*d:(i+1)*d])
		}
		for i, part := range [...][]float32{g.bias, g.hidden, g.hiddenBias, g.output, g.outputBias} {
			k.Add(sums[i], part)
		}
	}
}

// forwardPriority sets priorities, [n], to f of the states, [n, dim]. inner, [n, dim], and
// hidden, [n, 2 dim], receive what the way back reads.
func (a *astar) forwardPriority(states, inner, hidden, priorities []float32) {
	w, k, d := a.propagator.weights.priority, a.propagator.kernel, a.propagator.configuration.Dim
	n := len(priorities)
	copyRows(inner[:n*d], a.query)
	k.Multiply(inner, states, w.state, n, d, d, true)
	a.messages = grow(a.messages, n*d)
	for i := 0; i < n*d; i += d {
		message(a.propagator.message, a.messages[i:i+d], states[i:i+d], inner[i:i+d])
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

// backwardPriority takes the gradient of priorities, [n], back: to that of the states, which
// it adds to, and to those of the parameters and of the query's embedding.
func (a *astar) backwardPriority(states, inner, hidden, gradient, stateGradient []float32, into *Gradients) {
	p, g := a.propagator, into.priority
	w, k, d := p.weights.priority, p.kernel, p.configuration.Dim
	n := len(gradient)
	a.messages = grow(a.messages, n*d)
	a.hiddenGradient = grow(a.hiddenGradient, 2*n*d)
	a.messageGradient = grow(a.messageGradient, n*d)
	a.innerGradient = grow(a.innerGradient, n*d)
	for i, value := range gradient {
		g.outputBias[0] += value
		row, back := hidden[2*i*d:2*(i+1)*d], a.hiddenGradient[2*i*d:2*(i+1)*d]
		for j, active := range row {
			g.output[j] += value * active
			back[j] = 0
			if active > 0 {
				back[j] = value * w.output[j]
				g.hiddenBias[j] += back[j]
			}
		}
		message(p.message, a.messages[i*d:(i+1)*d], states[i*d:(i+1)*d], inner[i*d:(i+1)*d])
	}
	k.MultiplyTransposed(g.hidden, a.hiddenGradient, a.messages, n, 2*d, d, true)
	k.Multiply(a.messageGradient, a.hiddenGradient, w.hiddenBack, n, 2*d, d, false)
	for i := 0; i < n*d; i += d {
		messageBackward(k, p.message, a.messageGradient[i:i+d], states[i:i+d], inner[i:i+d], stateGradient[i:i+d], a.innerGradient[i:i+d])
		k.Add(a.queryGradient, a.innerGradient[i:i+d])
	}
	k.MultiplyTransposed(g.state, a.innerGradient, states, n, d, d, true)
	k.Multiply(stateGradient, a.innerGradient, w.stateBack, n, d, d, true)
}

// message is the message function of one state and one embedding.
func message(kind kernel.Message, out, x, w []float32) {
	switch kind {
	case kernel.TransE:
		for j, value := range x {
			out[j] = value + w[j]
		}
	case kernel.RotatE:
		half := len(x) / 2
		for j := range half {
			out[j] = x[j]*w[j] - x[half+j]*w[half+j]
			out[half+j] = x[j]*w[half+j] + x[half+j]*w[j]
		}
	default:
		for j, value := range x {
			out[j] = value * w[j]
		}
	}
}

// messageBackward adds the gradient of a message to that of the state, and sets that of the
// embedding.
func messageBackward(k kernel.Kernel, kind kernel.Message, gradient, x, w, stateGradient, embeddingGradient []float32) {
	switch kind {
	case kernel.TransE:
		k.Add(stateGradient, gradient)
		copy(embeddingGradient, gradient)
	case kernel.RotatE:
		half := len(x) / 2
		for j := range half {
			real, imaginary := gradient[j], gradient[half+j]
			stateGradient[j] += real*w[j] + imaginary*w[half+j]
			stateGradient[half+j] += imaginary*w[j] - real*w[half+j]
			embeddingGradient[j] = real*x[j] + imaginary*x[half+j]
			embeddingGradient[half+j] = imaginary*x[j] - real*x[half+j]
		}
	default:
		for j, value := range gradient {
			stateGradient[j] += value * w[j]
			embeddingGradient[j] = value * x[j]
		}
	}
}

// copyRows fills rows with copies of one.
func copyRows(rows, row []float32) {
	for len(rows) > 0 {
		rows = rows[copy(rows, row):]
	}
}
