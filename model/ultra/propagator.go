package ultra

import (
	"errors"
	"fmt"

	"tagnet/model/graph"
	"tagnet/model/internal/stack"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
	"tagnet/model/window"
)

// TrainingQuery is a query (Source, Relation, ?) whose loss is differentiated.
type TrainingQuery struct {
	Source, Relation int32
	// Removal removes the query's fact from the graph of entities. The relation graph keeps it, as in the authors' program.
	Removal graph.Removal
	// Candidates are the entities whose final states will be read. Only what these depend on is computed.
	Candidates []int32
}

// Propagator computes the final states of one training query after the other, with a backward pass through both parts of the
// model up to the score function, which package head has. It is not for concurrent use: each goroutine has its own.
//
// It propagates the states themselves, as the reference does, not differences to ground states: each query removes another fact
// from the graph, so queries share no ground states. Memory: 9 · 256 bytes for each entity.
type Propagator struct {
	model   *Model
	weights *weights // that base was computed with, or nil
	layout  *window.Layout
	base    Base // of which only the relations' states and the tables are in use

	relations, entities *stack.Stack
	marks               []uint8 // of findNeeded, by row
	sent                int64

	query TrainingQuery

	// Gradients of one layer's table, of the relations' states in the order of the tables, and of a layer between.
	byTable, byCrossed, hidden, byHidden []float32
	byInitial                            []float32
}

// Propagator returns a propagator over the model's graph.
func (m *Model) Propagator() *Propagator {
	n := m.graph.RelationCount()
	shared := stack.NewBuffers(Dim)
	p := &Propagator{
		model: m, layout: window.NewLayout(m.graph, m.kernel, m.layout), marks: make([]uint8, m.graph.Entities),
		relations: stack.New(m.kernel, m.relations, n, Dim, Layers, shared),
		entities:  stack.New(m.kernel, kernel.Senders{}, m.graph.Entities, Dim, Layers, shared),
		byTable:   make([]float32, n*Dim), byCrossed: make([]float32, n*Dim), hidden: make([]float32, n*Dim), byHidden: make([]float32, n*Dim),
		byInitial: make([]float32, Dim),
	}
	all := make([]int32, n)
	for r := range all {
		all[r] = int32(r)
	}
	for t := 1; t <= Layers; t++ {
		p.relations.Needed[t] = all
	}
	p.relations.Near = all
	p.base.relations, p.base.crossed = p.relations.States(Layers), make([]float32, n*Dim)
	return p
}

// Load replaces the weights, which must not be in use.
func (m *Model) Load(p *parameters.Set[float32]) { m.weights = newWeights(m.kernel, p) }

// Relations computes the states of the relations and the tables for queries of a relation or its inverse, unless the call before
// did so with the same weights. It returns the state of the query's relation, [64], a view.
func (p *Propagator) Relations(relation int32) []float32 {
	m := p.model
	base := min(relation, m.inverse(relation))
	if p.weights == m.weights && p.base.relation == base {
		return p.base.state(relation)
	}
	p.weights, p.base.relation = m.weights, base
	ones := make([]float32, Dim)
	stack.FillRows(ones, []float32{1})
	p.relations.Start(base, ones)
	for t := 1; t <= Layers; t++ {
		p.relations.Forward(t, &m.weights.relations[t-1], m.weights.types[t-1])
	}
	m.tables(&p.base)
	return p.base.state(relation)
}

// Forward propagates a query of the relation of the last call of Relations, or of its inverse.
func (p *Propagator) Forward(q TrainingQuery) error {
	m := p.model
	if p.weights != m.weights || p.base.relation != min(q.Relation, m.inverse(q.Relation)) {
		return fmt.Errorf("propagating relation %d with the states of base relation %d", q.Relation, p.base.relation)
	}
	p.query = q
	p.layout.FillAll(q.Removal)
	e := p.entities
	e.Senders = p.layout.Senders
	e.Start(p.layout.Row(q.Source), p.base.state(q.Relation))
	p.findNeeded(q.Candidates)
	for t := 1; t <= Layers; t++ {
		e.Forward(t, &m.weights.entities[t-1], p.base.tables[t-1])
	}
	return nil
}

// findNeeded lists the rows whose states the final states of candidates depend on, by layer, and counts their messages.
func (p *Propagator) findNeeded(candidates []int32) {
	const needed, withSenders = 1, 2
	e := p.entities
	clear(p.marks)
	for _, entity := range candidates {
		p.marks[p.layout.Row(entity)] = needed
	}
	p.sent = 0
	for t := Layers; t >= 1; t-- {
		e.Needed[t] = e.Needed[t][:0]
		for row, mark := range p.marks {
			if mark != 0 {
				e.Needed[t] = append(e.Needed[t], int32(row))
			}
		}
		if t == 1 {
			break
		}
		for _, row := range e.Needed[t] {
			senders := p.sendersOf(row)
			p.sent += int64(len(senders))
			if p.marks[row] == withSenders {
				continue
			}
			p.marks[row] = withSenders
			for _, sender := range senders {
				p.marks[sender] = max(p.marks[sender], needed)
			}
		}
	}
	p.findFar()
}

// findFar splits the rows of layer 1 into those that the source sends to, and the source, and the others.
func (p *Propagator) findFar() {
	const reached = 3
	e := p.entities
	p.marks[e.Source()] = reached
	for _, row := range p.sendersOf(e.Source()) { // each edge has an inverse
		p.marks[row] = reached
	}
	e.Near, e.Far = e.Near[:0], e.Far[:0]
	for _, row := range e.Needed[1] {
		if p.marks[row] != reached {
			e.Far = append(e.Far, row)
			if len(e.Far) > 1 {
				continue
			}
		}
		e.Near = append(e.Near, row)
		p.sent += int64(len(p.sendersOf(row)))
	}
}

// sendersOf returns the rows that send to a row.
func (p *Propagator) sendersOf(row int32) []int32 {
	begin, end := p.entities.Senders.Range(row, 1)
	return p.entities.Senders.Rows[begin:end]
}

// Sent returns the number of messages that the last Forward sent.
func (p *Propagator) Sent() int64 { return p.sent }

// Candidates sets states, [n, 64], to the final states of entities.
func (p *Propagator) Candidates(entities []int32, states []float32) {
	for i, entity := range entities {
		copy(rowOf(states, int32(i)), rowOf(p.entities.States(Layers), p.layout.Row(entity)))
	}
}

// Backward propagates the gradient of entities' final states, as Candidates writes them, through the entities' layers and the
// tables. It adds to g, and sets query, [64], to the gradient of the state of the query's relation as the source's first state.
func (p *Propagator) Backward(entities []int32, gradient []float32, g *Gradients, query []float32) error {
	if p.query.Candidates == nil {
		return errors.New("propagating backward before forward")
	}
	m, e := p.model, p.entities
	by := e.BeginBackward()
	for i, entity := range entities {
		m.kernel.Add(rowOf(by, p.layout.Row(entity)), rowOf(gradient, int32(i)))
	}
	clear(p.byInitial)
	clear(p.byCrossed)
	for t := Layers; t >= 1; t-- {
		clear(p.byTable)
		e.Backward(t, &m.weights.entities[t-1], &g.entities[t-1], p.base.tables[t-1], p.byTable, p.byInitial)
		p.tableBackward(&m.weights.projections[t-1], &g.projections[t-1])
	}
	copy(query, p.byInitial)
	m.kernel.Add(query, e.SourceGradient())
	return nil
}

// tableBackward propagates the gradient of a layer's table to the relations' states.
func (p *Propagator) tableBackward(maps *[2]stack.Map, into *[2]stack.MapGradients) {
	k, n := p.model.kernel, p.model.graph.RelationCount()
	first, second := &maps[0], &maps[1]
	first.Apply(k, p.hidden, p.base.crossed, n)
	k.ReLU(p.hidden, p.hidden)
	second.Backward(k, &into[1], p.hidden, p.byTable, p.byHidden, false)
	k.ReLUBackward(p.byHidden, p.hidden, p.byHidden)
	first.Backward(k, &into[0], p.base.crossed, p.byHidden, p.byCrossed, true)
}

// BackwardRelations propagates the gradient of the relations' states, that of the last Backward and that of the state of the
// query's relation, through the relations' layers. It adds to g.
func (p *Propagator) BackwardRelations(query []float32, g *Gradients) {
	m, s := p.model, p.relations
	by := s.BeginBackward()
	for r := range int32(m.graph.RelationCount()) {
		copy(rowOf(by, m.inverse(r)), rowOf(p.byCrossed, r))
	}
	m.kernel.Add(rowOf(by, p.query.Relation), query)
	for t := Layers; t >= 1; t-- {
		s.Backward(t, &m.weights.relations[t-1], &g.relations[t-1], m.weights.types[t-1], g.types[t-1], p.byInitial) // that of the boundary, which is constant, is not used
	}
}
