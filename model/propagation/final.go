package propagation

import (
	"tagnet/model/configuration"
	"tagnet/model/internal/buffer"
	"tagnet/model/kernel"
)

// finalStates are buffers of Reached.
type finalStates struct {
	tables [][]float32 // by age
	lane   [][]float32 // the same of one lane, where there are two
}

// Depth returns the most states that a final state is made of: one of each age where it is an
// attention over the states of the window (a specific delta), else 1.
func (p *Propagator) Depth() int { return p.configuration.States() }

// Width returns the number of entries of a candidate's state: dim, or 1 for A*Net's policies, where
// it is the score.
func (p *Propagator) Width() int {
	if p.configuration.Prioritized() {
		return 1
	}
	return p.configuration.Dim
}

// Candidates copies the states that the final states of entities are made of to states,
// [n, Depth, Width], by ascending age, and their number to valid, [n]. An entity that was not
// reached has 0, and zeros for states.
func (p *Propagator) Candidates(entities []int32, states []float32, valid []int32) {
	if p.astar != nil {
		p.astar.scores(entities, states, valid)
		return
	}
	d, depth := p.configuration.Dim, p.Depth()
	clear(states[:len(entities)*depth*d])
	for i, entity := range entities {
		first, last, row := p.finalAges(entity)
		valid[i] = int32(last - first + 1)
		for age := first; age <= last; age++ {
			to := (i*depth + age - first) * d
			copy(states[to:to+d], p.finalTable(row, age)[row*d:(row+1)*d])
		}
	}
}

// finalAges returns the ages of the states that an entity's final state is made of, none where
// last < first, and the entity's row.
func (p *Propagator) finalAges(entity int32) (first, last, row int) {
	row = int(p.layout.Row(entity))
	if p.configuration.Policy == configuration.PolicyFull {
		return p.configuration.Layers, p.configuration.Layers, row
	}
	if row == kernel.Unreached {
		return 0, -1, 0
	}
	last = min(p.configuration.Delta, p.configuration.Layers-p.layout.Distance(int32(row)))
	if !p.configuration.Specific() {
		first = last
	}
	return first, last, row
}

// finalTable returns the table which, after the last layer, holds the state of an age of a row.
func (p *Propagator) finalTable(row, age int) []float32 {
	if p.configuration.Policy == configuration.PolicyFull {
		return p.states.each[age]
	}
	return p.states.each[p.table(p.layout.Distance(int32(row))+age, age)]
}

// loadGradients copies the gradient of the candidates' states into the gradient tables. An entity
// may be a candidate several times.
func (p *Propagator) loadGradients(entities []int32, gradient []float32) {
	d, depth := p.configuration.Dim, p.Depth()
	for i, entity := range entities {
		first, last, row := p.finalAges(entity)
		for age := first; age <= last; age++ {
			from := (i*depth + age - first) * d
			p.kernel.Add(p.gradients.each[age][row*d:(row+1)*d], gradient[from:from+d])
		}
	}
}

// Reached calls visit with every entity that the last Forward reached, in groups whose final states
// are made of states of the same ages: states has a table [len(entities), dim] for each age,
// ascending (one table unless delta is specific). lane, 0 or 1, selects a query of a batch. The
// slices are valid until visit returns. Reached is not for A*Net's policies, see Priorities.
func (p *Propagator) Reached(lane int, visit func(entities []int32, states [][]float32)) {
	const most = 512 // rows whose states and hidden layers stay in the second-level cache
	for level := range len(p.layout.Levels) - 1 {
		lo, hi := int(p.layout.Levels[level]), int(p.layout.Levels[level+1])
		for ; lo < hi; lo += most {
			end := min(lo+most, hi)
			visit(p.layout.Entities[lo:end], p.finalStates(lane, lo, end))
		}
	}
}

// finalStates returns one lane of the states of rows lo to hi, all of one level, by age.
func (p *Propagator) finalStates(lane, lo, hi int) [][]float32 {
	length := p.rowLength()
	first, last, _ := p.finalAges(p.layout.Entities[lo])
	p.final.tables = p.final.tables[:0]
	for age := first; age <= last; age++ {
		table := p.finalTable(lo, age)[lo*length : hi*length]
		if p.lanes() > 1 {
			table = p.copyLane(age-first, lane, table)
		}
		p.final.tables = append(p.final.tables, table)
	}
	return p.final.tables
}

// copyLane returns a copy of one lane of states, in the i-th buffer.
func (p *Propagator) copyLane(i, lane int, states []float32) []float32 {
	for len(p.final.lane) <= i {
		p.final.lane = append(p.final.lane, nil)
	}
	d, length := p.configuration.Dim, p.rowLength()
	out := buffer.Resize(p.final.lane[i], len(states)/p.lanes())
	p.final.lane[i] = out
	for row := range len(out) / d {
		copy(out[row*d:(row+1)*d], states[row*length+lane*d:])
	}
	return out
}
