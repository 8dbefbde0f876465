package spec

import (
	"math"

	"tagnet/model/weights/parameters"
)

// score returns the logit of an MLP of two layers for a state x and a query embedding x_q. The input of
// the MLP is [x, x_q]; for A*Net it is the message from x along a relation whose embedding is a linear
// map of [x, x_q].
func (m *Model) score(name string, x, embedding []float64) float64 {
	hidden := m.hidden(name, m.scored(x, embedding))
	output := affine(m.parameters.Data(name+".2.weight"), m.parameters.Data(name+".2.bias"), hidden)
	return output[0]
}

// scoreGradients are the gradients of a score's inputs, x and x_q, and of the parameters.
type scoreGradients struct {
	state, embedding []float64
	parameters       *parameters.Set[float64]
}

// scoreBackward adds to the gradients of x, x_q and the parameters, given the gradient of a score.
func (m *Model) scoreBackward(name string, x, embedding []float64, gradient float64, to scoreGradients) {
	weights, scored := m.parameters, m.scored(x, embedding)
	hidden := m.hidden(name, scored)
	gradientHidden := make([]float64, len(hidden))
	affineBackward(weights.Data(name+".2.weight"), hidden, []float64{gradient},
		to.parameters.Data(name+".2.weight"), to.parameters.Data(name+".2.bias"), gradientHidden)
	for i := range hidden {
		if !(hidden[i] > 0) {
			gradientHidden[i] = 0 // relu
		}
	}
	gradientScored := make([]float64, len(scored))
	affineBackward(weights.Data(name+".0.weight"), scored, gradientHidden,
		to.parameters.Data(name+".0.weight"), to.parameters.Data(name+".0.bias"), gradientScored)
	m.scoredBackward(x, embedding, gradientScored, to)
}

// hidden returns the MLP's hidden layer.
func (m *Model) hidden(name string, input []float64) []float64 {
	hidden := affine(m.parameters.Data(name+".0.weight"), m.parameters.Data(name+".0.bias"), input)
	for i := range hidden {
		hidden[i] = math.Max(hidden[i], 0)
	}
	return hidden
}

// scored returns the MLP's input.
func (m *Model) scored(x, embedding []float64) []float64 {
	if !m.configuration.Prioritized() {
		return join(x, embedding)
	}
	heuristic := affine(m.parameters.Data("linear.weight"), m.parameters.Data("linear.bias"), join(x, embedding))
	return message(m.configuration.Message, x, heuristic)
}

// scoredBackward adds the gradients of a state and of the query's embedding, given the gradient of the MLP's input;
// with priorities, a message of both lies between.
func (m *Model) scoredBackward(x, embedding, scored []float64, to scoreGradients) {
	both := scored
	if m.configuration.Prioritized() {
		weight, input := m.parameters.Data("linear.weight"), join(x, embedding)
		heuristic := affine(weight, m.parameters.Data("linear.bias"), input)
		gradientHeuristic := make([]float64, len(heuristic))
		messageBackward(m.configuration.Message, x, heuristic, scored, to.state, gradientHeuristic)
		both = make([]float64, len(input))
		affineBackward(weight, input, gradientHeuristic, to.parameters.Data("linear.weight"), to.parameters.Data("linear.bias"), both)
	}
	add(to.state, both[:len(x)])
	add(to.embedding, both[len(x):])
}
