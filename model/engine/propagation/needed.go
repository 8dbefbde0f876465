package propagation

import "tagnet/model/parallel"

// needed is the set of states that a query computes: while training, those that the final states of
// its candidates depend on. With few candidates in a large graph that is a small share of them; the
// others would get no gradient.
type needed struct {
	all   bool      // every state is needed; the other fields are not used
	masks []uint64  // by row: bit k for the state of age k
	rows  [][]int32 // by age: the rows whose state is needed, ascending
	first [][]int32 // by age and level: index of the level's first row in rows, [levels+1]
}

// rowsToCompute returns the rows of a level whose states of an age a layer computes.
func (p *windowPolicy) rowsToCompute(age, level int) []int32 {
	switch {
	case p.sharesStates():
		ofAge := &p.layout.Ages[age]
		return ofAge.Representatives[ofAge.RepresentativeLevels[level]:ofAge.RepresentativeLevels[level+1]]
	case p.needed.all:
		return p.layout.Level(level)
	}
	first := p.needed.first[age]
	return p.needed.rows[age][first[level]:first[level+1]]
}

// maxUpdates bounds the number of states to compute, over a number of ages.
func (p *windowPolicy) maxUpdates(ages int) (count int) {
	if p.needed.all {
		return ages * p.layout.Count()
	}
	for _, rows := range p.needed.rows[:ages] {
		count += len(rows)
	}
	return count
}

// takeNeeded takes over the states of a number of ages that the layout found to be needed.
func (p *windowPolicy) takeNeeded(ages int) {
	p.needed.masks = parallel.Resize(p.needed.masks, p.layout.Count())
	for row, count := range p.layout.Needed {
		p.needed.masks[row] = 1<<count - 1
	}
	p.listNeeded(ages)
}

// listNeeded turns the masks into lists.
func (p *tables) listNeeded(ages int) {
	need, levels := &p.needed, len(p.layout.Levels)-1
	for len(need.rows) < ages {
		need.rows, need.first = append(need.rows, nil), append(need.first, make([]int32, levels+1))
	}
	for age := range ages {
		rows, first := need.rows[age][:0], need.first[age]
		for level := range levels {
			first[level] = int32(len(rows))
			for _, i := range p.layout.Level(level) {
				if need.masks[i]>>age&1 != 0 {
					rows = append(rows, i)
				}
			}
		}
		first[levels] = int32(len(rows))
		need.rows[age] = rows
	}
}

// clearGradients allocates the gradients of the states, and zeroes the gradients of all needed states. The source's
// first state is needed, too: messages are read from it, though no layer computes it.
func (p *tables) clearGradients() {
	p.gradients.resize(len(p.states.each), p.states.before, p.states.rows, p.configuration.Dim)
	clear(p.gradients.each[0][:p.configuration.Dim])
	for i, table := range p.gradients.each {
		p.clearNeeded(table, i)
	}
}

// clearNeeded zeroes the rows of a table of states, or of their gradients, that are needed: of an age in a window, else
// of a layer.
func (p *tables) clearNeeded(table []float32, i int) {
	d := p.configuration.Dim
	if p.needed.all {
		clear(table[:p.layout.Count()*d])
		return
	}
	for _, row := range p.needed.rows[i] {
		clear(table[int(row)*d : int(row+1)*d])
	}
}
