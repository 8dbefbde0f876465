package propagation

import (
	"tagnet/model/parallel"
)

// finalStates holds the buffers of Reached.
type finalStates struct {
	tables [][]float32 // by age
	lane   [][]float32 // the same of one lane, where there are two
}

// Depth returns the most states that a final state is made of: one of each age where it is an
// attention over the states of the window (a specific delta), else 1.
func (p *Propagator) Depth() int { return p.configuration.States() }

// Width returns the number of entries of a candidate's state: dim, or 1 for A*Net's policies, where
// it is the score.
func (p *Propagator) Width() int { return p.policy.width() }

// Candidates copies the states that the final states of entities are made of to states,
// [n, Depth, Width], by ascending age, and their number to valid, [n]. An entity that was not
// reached has 0, and zeros for states.
func (p *Propagator) Candidates(entities []int32, states []float32, valid []int32) {
	p.policy.candidates(entities, states, valid)
}

// Reached calls visit with every entity that the last Forward reached, in groups whose final states
// are made of states of the same ages: states has a table [len(entities), dim] for each age,
// ascending (one table unless delta is specific). lane, 0 or 1, selects a query of a batch. The
// slices are valid until visit returns. Reached is not
// for A*Net's policies, see Priorities.
func (p *Propagator) Reached(lane int, visit func(entities []int32, states [][]float32)) {
	p.policy.(layered).reached(lane, visit)
}

func (p *tables) width() int { return p.configuration.Dim }

// candidates copies the final states of entities to states, [len(entities), depth, dim], and sets how many of each are valid: 0 for an unreached
// entity.
func (p *tables) candidates(entities []int32, states []float32, valid []int32) {
	d, depth := p.configuration.Dim, p.configuration.States()
	clear(states[:len(entities)*depth*d])
	for i, entity := range entities {
		local := p.local(entity)
		if local < 0 {
			valid[i] = 0
			continue
		}
		first, last, row := p.layeredPolicy.finalAges(local)
		valid[i] = int32(last - first + 1)
		for age := first; age <= last; age++ {
			to := (i*depth + age - first) * d
			copy(states[to:to+d], p.layeredPolicy.finalTable(row, age)[row*d:(row+1)*d])
		}
	}
}

// loadGradients copies the gradient of the candidates' states into the gradient tables. An entity
// may be a candidate several times.
func (p *tables) loadGradients(entities []int32, gradient []float32) {
	d, depth := p.configuration.Dim, p.configuration.States()
	for i, entity := range entities {
		local := p.local(entity)
		if local < 0 {
			continue
		}
		first, last, row := p.layeredPolicy.finalAges(local)
		for age := first; age <= last; age++ {
			from := (i*depth + age - first) * d
			p.kernel.Add(p.gradients.each[age][row*d:(row+1)*d], gradient[from:from+d])
		}
	}
}

// reached visits the reached entities level by level with their final states, at most 512 rows at a time.
func (p *tables) reached(lane int, visit func(entities []int32, states [][]float32)) {
	const most = 512 // rows whose states and hidden layers stay in the second-level cache
	for level := range len(p.layout.Levels) - 1 {
		lo, hi := int(p.layout.Levels[level]), int(p.layout.Levels[level+1])
		for ; lo < hi; lo += most {
			end := min(lo+most, hi)
			visit(p.entities()[lo:end], p.finalStates(lane, lo, end))
		}
	}
}

// finalStates returns one lane of the states of rows lo to hi, all of one level, by age.
func (p *tables) finalStates(lane, lo, hi int) [][]float32 {
	length := p.rowLength()
	first, last, _ := p.layeredPolicy.finalAges(p.layout.Entities[lo])
	p.final.tables = p.final.tables[:0]
	for age := first; age <= last; age++ {
		table := p.layeredPolicy.finalTable(lo, age)[lo*length : hi*length]
		if p.lanes() > 1 {
			table = p.copyLane(age-first, lane, table)
		}
		p.final.tables = append(p.final.tables, table)
	}
	return p.final.tables
}

// copyLane returns a copy of one lane of states, in the i-th buffer.
func (p *tables) copyLane(i, lane int, states []float32) []float32 {
	for len(p.final.lane) <= i {
		p.final.lane = append(p.final.lane, nil)
	}
	d, length := p.configuration.Dim, p.rowLength()
	out := parallel.Resize(p.final.lane[i], len(states)/p.lanes())
	p.final.lane[i] = out
	for row := range len(out) / d {
		copy(out[row*d:(row+1)*d], states[row*length+lane*d:])
	}
	return out
}
