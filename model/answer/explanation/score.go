package explanation

import (
	"math"

	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// scorer computes the score of one entity from its states, and the gradient by them. It does so in float64, since a
// single entity's takes no time.
type scorer struct {
	configuration configuration.Configuration
	parameters    *parameters.Set[float32]
}

// score returns the score of an entity whose final state is made of some states, [n, dim], and sets gradient, [n, dim],
// to that by the states.
func (s scorer) score(states, query, gradient []float32) float64 {
	d := s.configuration.Dim
	if !s.configuration.Specific() || len(states) == 0 {
		final := make([]float64, d)
		for j, value := range states {
			final[j] = float64(value)
		}
		score, by := s.mlp("mlp", final, query)
		for j := range gradient {
			gradient[j] = float32(by[j])
		}
		return score
	}
	return s.attend(states, query, gradient)
}

// attend returns the score and the gradient where the final state is an attention over states.
func (s scorer) attend(states, query, gradient []float32) float64 {
	d, temperature := s.configuration.Dim, s.configuration.AttentionTemperature
	name := "mlp"
	if s.configuration.Attention == configuration.AttentionOwn {
		name = "attention"
	}
	n := len(states) / d
	rows, weights, byLogit := make([][]float64, n), make([]float64, n), make([][]float64, n)
	largest, sum := math.Inf(-1), 0.0
	for k := range rows {
		rows[k] = make([]float64, d)
		for j, value := range states[k*d : (k+1)*d] {
			rows[k][j] = float64(value)
		}
		weights[k], byLogit[k] = s.mlp(name, rows[k], query)
		weights[k] /= temperature
		largest = math.Max(largest, weights[k])
	}
	// The softmax of the logits, and the states' sum weighted by it.
	for k := range weights {
		weights[k] = math.Exp(weights[k] - largest)
		sum += weights[k]
	}
	final := make([]float64, d)
	for k := range weights {
		weights[k] /= sum
		for j, value := range rows[k] {
			final[j] += weights[k] * value
		}
	}
	// A state has a gradient as part of the sum and through its logit.
	score, by := s.mlp("mlp", final, query)
	along, mean := make([]float64, n), 0.0 // the gradient of a weight, and their mean
	for k, row := range rows {
		for j, value := range row {
			along[k] += by[j] * value
		}
		mean += weights[k] * along[k]
	}
	for k := range rows {
		logit := weights[k] * (along[k] - mean) / temperature
		for j := range d {
			gradient[k*d+j] = float32(weights[k]*by[j] + logit*byLogit[k][j])
		}
	}
	return score
}

// mlp returns the value of an MLP of two layers for [x, x_q], and its gradient by x.
func (s scorer) mlp(name string, x []float64, query []float32) (value float64, gradient []float64) {
	d := len(x)
	first, bias := s.parameters.Data(name+".0.weight"), s.parameters.Data(name+".0.bias")
	output := s.parameters.Data(name + ".2.weight")
	value, gradient = float64(s.parameters.Data(name + ".2.bias")[0]), make([]float64, d)
	for i := range 2 * d {
		row, hidden := first[i*2*d:(i+1)*2*d], float64(bias[i])
		for j := range d {
			hidden += float64(row[j]) * x[j]
		}
		for j, value := range query {
			hidden += float64(row[d+j]) * float64(value)
		}
		if hidden <= 0 {
			continue
		}
		value += float64(output[i]) * hidden
		for j := range d {
			gradient[j] += float64(output[i]) * float64(row[j])
		}
	}
	return value, gradient
}
