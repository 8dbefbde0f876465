package reference

import (
	"math"

	"tagnet/model/parameters"
)

// score is the logit that an MLP of two layers gives to a state x under a query x_q. The MLP
// reads [x, x_q]; with A*Net it reads a message from x along a relation that a linear map
// makes of [x, x_q].
func (m *Model) score(name string, x, question []float64) float64 {
	hidden := m.hidden(name, m.scored(x, question))
	output := affine(m.parameters.Data(name+".2.weight"), m.parameters.Data(name+".2.bias"), hidden)
	return output[0]
}

// scoreBackward adds what the gradient of a score makes of those of x, x_q and the
// parameters.
func (m *Model) scoreBackward(name string, x, question []float64, gradient float64, intoX, intoQuestion []float64, into *parameters.Set[float64]) {
	weights, scored := m.parameters, m.scored(x, question)
	hidden := m.hidden(name, scored)
	gradientHidden := make([]float64, len(hidden))
	affineBackward(weights.Data(name+".2.weight"), hidden, []float64{gradient},
		into.Data(name+".2.weight"), into.Data(name+".2.bias"), gradientHidden)
	for i := range hidden {
		if !(hidden[i] > 0) {
			gradientHidden[i] = 0 // relu
		}
	}
	gradientScored := make([]float64, len(scored))
	affineBackward(weights.Data(name+".0.weight"), scored, gradientHidden,
		into.Data(name+".0.weight"), into.Data(name+".0.bias"), gradientScored)
	m.scoredBackward(x, question, gradientScored, intoX, intoQuestion, into)
}

// hidden is the MLP's inner layer.
func (m *Model) hidden(name string, input []float64) []float64 {
	hidden := affine(m.parameters.Data(name+".0.weight"), m.parameters.Data(name+".0.bias"), input)
	for i := range hidden {
		hidden[i] = math.Max(hidden[i], 0)
	}
	return hidden
}

// scored is what the MLP reads.
func (m *Model) scored(x, question []float64) []float64 {
	if !m.configuration.Prioritized() {
		return join(x, question)
	}
	heuristic := affine(m.parameters.Data("linear.weight"), m.parameters.Data("linear.bias"), join(x, question))
	return message(m.configuration.Message, x, heuristic)
}

func (m *Model) scoredBackward(x, question, scored, intoX, intoQuestion []float64, into *parameters.Set[float64]) {
	both := scored
	if m.configuration.Prioritized() {
		weight, input := m.parameters.Data("linear.weight"), join(x, question)
		heuristic := affine(weight, m.parameters.Data("linear.bias"), input)
		gradientHeuristic := make([]float64, len(heuristic))
		messageBackward(m.configuration.Message, x, heuristic, scored, intoX, gradientHeuristic)
		both = make([]float64, len(input))
		affineBackward(weight, input, gradientHeuristic, into.Data("linear.weight"), into.Data("linear.bias"), both)
	}
	add(intoX, both[:len(x)])
	add(intoQuestion, both[len(x):])
}
