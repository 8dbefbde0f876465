package reference

import (
	"math"
	"slices"

	"tagnet/model/parameters"
)

// incidence is the state of an entity that its relations alone decide, and what its backward pass needs:
//
//	relu(layer_norm(W sum over r of relu(A Z_r + a) + b))
//
// for the distinct relations r that leave the entity in the query's graph, with their states Z_r.
type incidence struct {
	relations []int32
	update    *nodeUpdate
}

// incidence computes that of o.
func (p *Pass) incidence(o int32) incidence {
	var i incidence
	for _, e := range p.inEdges(o) {
		i.relations = append(i.relations, p.model.graph.Inverse(e.relation))
	}
	slices.Sort(i.relations)
	i.relations = slices.Compact(i.relations)
	sum := make([]float64, p.model.configuration.Dim)
	for _, r := range i.relations {
		add(sum, p.model.incidenceRow(p.stateOf(r)))
	}
	i.update = p.model.update(parameters.IncidencePart, sum, func(int) float64 { return 1 })
	return i
}

// stateOf returns the final state of a relation.
func (p *Pass) stateOf(r int32) []float64 {
	return row(p.RelationStates(), int(r), p.model.configuration.Dim)
}

// incidenceRow returns what a relation with a state adds to the sums.
func (m *Model) incidenceRow(state []float64) []float64 {
	table := parameters.IncidencePart + "table"
	added := affine(m.parameters.Data(table+".weight"), m.parameters.Data(table+".bias"), state)
	for j := range added {
		added[j] = math.Max(added[j], 0)
	}
	return added
}

// condition returns what the score of o depends on beside its final state: the query's embedding, and the state of o's incidences.
func (p *Pass) condition(o int32) []float64 {
	if !p.model.configuration.Incidences {
		return p.embedding
	}
	return join(p.embedding, p.incidence(o).update.added)
}

// incidenceBackward propagates the gradient of o's state to the parameters, and adds to those of the relations' rows, [2R*d].
func (p *Pass) incidenceBackward(o int32, gradient, rows []float64, into *parameters.Set[float64]) {
	i := p.incidence(o)
	sum := p.model.updateBackward(parameters.IncidencePart, i.update, gradient, into)
	for _, r := range i.relations {
		add(row(rows, int(r), len(sum)), sum)
	}
}

// incidenceRowsBackward propagates the gradient of the relations' rows to the parameters and the states of relations.
func (p *Pass) incidenceRowsBackward(rows []float64, into *parameters.Set[float64]) {
	m, d, table := p.model, p.model.configuration.Dim, parameters.IncidencePart+"table"
	for r := range int32(m.graph.RelationCount()) {
		by := append([]float64(nil), row(rows, int(r), d)...)
		for j, value := range m.incidenceRow(p.stateOf(r)) {
			if !(value > 0) {
				by[j] = 0 // relu
			}
		}
		affineBackward(m.parameters.Data(table+".weight"), p.stateOf(r), by,
			into.Data(table+".weight"), into.Data(table+".bias"), row(p.byStates, int(r), d))
	}
}
