package spec

import (
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// embed returns the embedding of the query's relation.
func (p *Pass) embed() []float64 {
	m, q := p.model, int(p.Query.Relation)
	if m.configuration.Transfers() {
		p.propagateBetween(p.Query.Relation % int32(m.graph.BaseRelations))
		return row(p.RelationStates(), q, m.configuration.Dim)
	}
	return row(m.parameters.Data("query.weight"), q, m.configuration.Dim)
}

// embedBackward propagates the gradients of the embedding and of the relations' states to the parameters.
func (p *Pass) embedBackward(gradient []float64, into *parameters.Set[float64]) {
	m, q := p.model, int(p.Query.Relation)
	if m.configuration.Transfers() {
		add(row(p.gradStates, q, m.configuration.Dim), gradient)
		p.propagateBetweenBackward(into)
		return
	}
	add(row(into.Data("query.weight"), q, m.configuration.Dim), gradient)
}

// relations returns the relation embeddings of layer t, [2R*d]: the layer's table, a linear map of
// the query's embedding, or a map of the states of relations.
func (p *Pass) relations(t int) []float64 {
	m := p.model
	switch m.configuration.Source() {
	case configuration.RelationsTable:
		return m.parameters.Layer(t, "relation.weight")
	case configuration.RelationsLinear:
		return affine(m.parameters.Layer(t, "relation_linear.weight"), m.parameters.Layer(t, "relation_linear.bias"), p.embedding)
	}
	return p.project(t)
}

// relationsBackward propagates the gradient of layer t's relation embeddings to the parameters and the
// query's embedding, or the states of relations.
func (p *Pass) relationsBackward(t int, gradient, embedding []float64, into *parameters.Set[float64]) {
	m := p.model
	switch m.configuration.Source() {
	case configuration.RelationsTable:
		add(into.Layer(t, "relation.weight"), gradient)
	case configuration.RelationsLinear:
		affineBackward(m.parameters.Layer(t, "relation_linear.weight"), p.embedding, gradient,
			into.Layer(t, "relation_linear.weight"), into.Layer(t, "relation_linear.bias"), embedding)
	default:
		p.projectBackward(t, gradient, into)
	}
}
