package reference

import "tagnet/model/parameters"

// relations returns the relation embeddings of layer t, [2R*d]: the layer's table, or a linear map of
// the query's embedding.
func (p *Pass) relations(t int) []float64 {
	m := p.model
	if !m.configuration.Dependent {
		return m.parameters.Layer(t, "relation.weight")
	}
	return affine(m.parameters.Layer(t, "relation_linear.weight"), m.parameters.Layer(t, "relation_linear.bias"), p.embedding)
}

// relationsBackward propagates the gradient of layer t's relation embeddings to the parameters and the
// query's embedding.
func (p *Pass) relationsBackward(t int, gradient, embedding []float64, into *parameters.Set[float64]) {
	m := p.model
	if !m.configuration.Dependent {
		add(into.Layer(t, "relation.weight"), gradient)
		return
	}
	affineBackward(m.parameters.Layer(t, "relation_linear.weight"), p.embedding, gradient,
		into.Layer(t, "relation_linear.weight"), into.Layer(t, "relation_linear.bias"), embedding)
}
