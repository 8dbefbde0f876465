package propagation

import (
	"slices"

	"tagnet/model/parallel"
)

// finalStates holds the buffers of Score.
type finalStates struct {
	tables [][]float32 // by age
	copies [][]float32 // the same, where the states do not follow each other in a table
	values []float32
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

// Score sets values[o] of every entity o that the last Forward reached to what score makes of its final state. score
// gets the states of as many entities as it has values, of the same ages: a table [len(values), dim] for each age,
// ascending (one table unless delta is specific), valid until it returns. States that are known to be equal are scored
// once. Score is not for A*Net's policies, see Priorities.
func (p *Propagator) Score(values []float32, score func(states [][]float32, values []float32)) {
	p.policy.(layered).score(values, score)
}

func (p *tables) width() int { return p.configuration.Dim }

// candidates copies the final states of entities to states, [len(entities), depth, dim], and sets how many of each are
// valid: 0 for an unreached entity.
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

// score scores the final states level by level, at most 512 rows at a time.
func (p *tables) score(values []float32, score func(states [][]float32, values []float32)) {
	const most = 512 // rows whose states and hidden layers stay in the second-level cache
	entities := p.entities()
	p.final.values = parallel.Resize(p.final.values, most)
	for level := range len(p.layout.Levels) - 1 {
		rows, duplicates := p.layeredPolicy.different(level)
		for rows := range slices.Chunk(rows, most) {
			out := p.final.values[:len(rows)]
			score(p.finalStates(rows), out)
			for i, row := range rows {
				values[entities[row]] = out[i]
			}
		}
		for _, d := range duplicates {
			values[entities[d.Row]] = values[entities[d.Of]]
		}
	}
}

// finalStates returns the states of rows, ascending ones of one level, by age.
func (p *tables) finalStates(rows []int32) [][]float32 {
	d, begin, end := p.configuration.Dim, int(rows[0]), int(rows[len(rows)-1])+1
	first, last, _ := p.layeredPolicy.finalAges(p.layout.Entities[begin])
	p.final.tables = p.final.tables[:0]
	for age := first; age <= last; age++ {
		table := p.layeredPolicy.finalTable(begin, age)
		if end-begin == len(rows) {
			table = table[begin*d : end*d]
		} else {
			table = p.copyStates(age-first, table, rows)
		}
		p.final.tables = append(p.final.tables, table)
	}
	return p.final.tables
}

// copyStates returns a copy of the states of rows, in the i-th buffer.
func (p *tables) copyStates(i int, states []float32, rows []int32) []float32 {
	for len(p.final.copies) <= i {
		p.final.copies = append(p.final.copies, nil)
	}
	d := p.configuration.Dim
	out := parallel.Resize(p.final.copies[i], len(rows)*d)
	p.final.copies[i] = out
	for j, row := range rows {
		copy(out[j*d:(j+1)*d], states[int(row)*d:])
	}
	return out
}
