package spec

import (
	"math"

	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// attend computes Attention and Final for a specific delta: the final state of a reached
// entity is a mean of its states while its window was open, weighted by a softmax.
func (p *Pass) attend() {
	m, c := p.model, p.model.configuration
	p.Attention = make([]float64, (c.Layers+1)*m.graph.Entities)
	p.Final = make([]float64, m.graph.Entities*c.Dim)
	for o := range m.graph.Entities {
		var logits []float64
		for _, t := range p.finalLayers(o) {
			logits = append(logits, m.score(m.attentionName(), row(p.Hiddens[t], o, c.Dim), p.embedding)/c.AttentionTemperature)
		}
		weights := softmax(logits)
		for i, t := range p.finalLayers(o) {
			p.Attention[t*m.graph.Entities+o] = weights[i]
			for j, value := range row(p.Hiddens[t], o, c.Dim) {
				row(p.Final, o, c.Dim)[j] += weights[i] * value
			}
		}
	}
}

// attendBackward propagates the gradient of Final to the states, the query's embedding and the
// parameters of the attention.
func (p *Pass) attendBackward(final []float64, states [][]float64, embedding []float64, into *parameters.Set[float64]) {
	m, c := p.model, p.model.configuration
	for o := range m.graph.Entities {
		gradient := row(final, o, c.Dim)
		weight := func(t int) float64 { return p.Attention[t*m.graph.Entities+o] }
		// The gradient of weight t is along[t], the gradient of logit t weight[t] (along[t] - mean).
		along, mean := make([]float64, c.Layers+1), 0.0
		for _, t := range p.finalLayers(o) {
			for j, value := range row(p.Hiddens[t], o, c.Dim) {
				along[t] += gradient[j] * value
				row(states[t], o, c.Dim)[j] += weight(t) * gradient[j]
			}
			mean += weight(t) * along[t]
		}
		for _, t := range p.finalLayers(o) {
			logit := weight(t) * (along[t] - mean) / c.AttentionTemperature
			m.scoreBackward(m.attentionName(), row(p.Hiddens[t], o, c.Dim), p.embedding, logit, scoreGradients{row(states[t], o, c.Dim), embedding, into})
		}
	}
}

// finalLayers returns the layers whose states of o are part of its final state: dist(o) to dist(o) + delta, up to
// the last layer; none if o is not reached.
func (p *Pass) finalLayers(o int) []int {
	c := p.model.configuration
	var layers []int
	for t := range c.Layers + 1 {
		if distance := p.distance(int32(o)); distance <= t && t <= distance+c.Delta {
			layers = append(layers, t)
		}
	}
	return layers
}

// attentionName returns the name of the MLP that weights states.
func (m *Model) attentionName() string {
	if m.configuration.Attention == configuration.AttentionShared {
		return "mlp"
	}
	return "attention"
}

// softmax returns exp(logits) divided by their sum.
func softmax(logits []float64) []float64 {
	largest, sum := math.Inf(-1), 0.0
	for _, logit := range logits {
		largest = math.Max(largest, logit)
	}
	weights := make([]float64, len(logits))
	for i, logit := range logits {
		weights[i] = math.Exp(logit - largest)
		sum += weights[i]
	}
	for i := range weights {
		weights[i] /= sum
	}
	return weights
}
