package spec

import (
	"fmt"
	"math"

	"tagnet/model/weights/parameters"
)

// propagateBetween computes the states of all relations in their graph, of the whole knowledge graph, after 0 to L
// layers. That of the base relation starts with ones, the others' with zeros. Messages are the products of a sender's
// state and the row of the edge's type; they are summed, with the boundary. As in ULTRA, arXiv 2310.04562.
func (p *Pass) propagateBetween(base int32) {
	m, d := p.model, p.model.configuration.Dim
	start := make([]float64, m.graph.RelationCount()*d)
	for j := range d {
		row(start, int(base), d)[j] = 1
	}
	p.between = [][]float64{start}
	for t := 1; t <= m.configuration.RelationLayers; t++ {
		name, before := relationLayer(t), p.between[t-1]
		total := append([]float64(nil), start...)
		for k, ofType := range m.between {
			for _, e := range ofType {
				multiplyAdd(row(total, int(e[0]), d), row(before, int(e[1]), d), row(m.parameters.Data(name+"relation.weight"), k, d))
			}
		}
		after, updates := append([]float64(nil), before...), []*nodeUpdate(nil)
		for r := range m.graph.RelationCount() {
			u := m.update(name, join(row(before, r, d), row(total, r, d)), func(int) float64 { return 1 })
			add(row(after, r, d), u.added)
			updates = append(updates, u)
		}
		p.between, p.betweenUpdates = append(p.between, after), append(p.betweenUpdates, updates)
	}
}

// relationLayer returns how the names of the parameters of layer t between relations begin.
func relationLayer(t int) string { return fmt.Sprintf("relation_model.layers.%d.", t-1) }

// RelationStates returns the final states of the relations for the query, [2R*d], or nil unless they come from a graph.
func (p *Pass) RelationStates() []float64 {
	if p.between == nil {
		return nil
	}
	return p.between[len(p.between)-1]
}

// propagateBetweenBackward propagates the gradient of the final states of relations to the parameters.
func (p *Pass) propagateBetweenBackward(into *parameters.Set[float64]) {
	m, d := p.model, p.model.configuration.Dim
	after := p.gradStates
	for t := m.configuration.RelationLayers; t >= 1; t-- {
		name := relationLayer(t)
		before, total := append([]float64(nil), after...), make([]float64, len(after))
		for r, u := range p.betweenUpdates[t-1] {
			input := m.updateBackward(name, u, row(after, r, d), into)
			add(row(before, r, d), input[:d])
			copy(row(total, r, d), input[d:])
		}
		for k, ofType := range m.between {
			weight, gradWeight := row(m.parameters.Data(name+"relation.weight"), k, d), row(into.Data(name+"relation.weight"), k, d)
			for _, e := range ofType {
				multiplyAdd(row(before, int(e[1]), d), row(total, int(e[0]), d), weight)
				multiplyAdd(gradWeight, row(total, int(e[0]), d), row(p.between[t-1], int(e[1]), d))
			}
		}
		after = before
	}
}

// project returns the relation embeddings of layer t, [2R*d]. The embedding of an edge's relation is a map, of two
// linear ones with ReLU between them, of the state of its inverse.
func (p *Pass) project(t int) []float64 {
	m, d := p.model, p.model.configuration.Dim
	var table []float64
	for r := range int32(m.graph.RelationCount()) {
		hidden := m.projected(t, row(p.RelationStates(), int(m.graph.Inverse(r)), d))
		table = append(table, affine(m.parameters.Layer(t, "relation_projection.2.weight"), m.parameters.Layer(t, "relation_projection.2.bias"), hidden)...)
	}
	return table
}

// projected returns the hidden layer of project for a state.
func (m *Model) projected(t int, state []float64) []float64 {
	hidden := affine(m.parameters.Layer(t, "relation_projection.0.weight"), m.parameters.Layer(t, "relation_projection.0.bias"), state)
	for i := range hidden {
		hidden[i] = math.Max(hidden[i], 0)
	}
	return hidden
}

// projectBackward propagates the gradient of project to the parameters and the states of relations.
func (p *Pass) projectBackward(t int, gradient []float64, into *parameters.Set[float64]) {
	m, d := p.model, p.model.configuration.Dim
	for r := range int32(m.graph.RelationCount()) {
		state, gradState := row(p.RelationStates(), int(m.graph.Inverse(r)), d), row(p.gradStates, int(m.graph.Inverse(r)), d)
		hidden, gradHidden := m.projected(t, state), make([]float64, d)
		affineBackward(m.parameters.Layer(t, "relation_projection.2.weight"), hidden, row(gradient, int(r), d),
			into.Layer(t, "relation_projection.2.weight"), into.Layer(t, "relation_projection.2.bias"), gradHidden)
		for i := range hidden {
			if !(hidden[i] > 0) {
				gradHidden[i] = 0 // relu
			}
		}
		affineBackward(m.parameters.Layer(t, "relation_projection.0.weight"), state, gradHidden,
			into.Layer(t, "relation_projection.0.weight"), into.Layer(t, "relation_projection.0.bias"), gradState)
	}
}

// multiplyAdd adds the products of the entries of x and w.
func multiplyAdd(sum, x, w []float64) {
	for j := range sum {
		sum[j] += x[j] * w[j]
	}
}
