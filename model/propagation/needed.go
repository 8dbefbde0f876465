package propagation

import "tagnet/model/internal/buffer"

// needed is the set of states that a query computes: while training, those that the final states of
// its candidates depend on. With few candidates in a large graph that is a small share of them; the
// others would get no gradient.
type needed struct {
	all   bool      // every state is needed; the other fields are not used
	masks []uint64  // by row: bit k for the state of age k
	rows  [][]int32 // by age: the rows whose state is needed, ascending
	first [][]int32 // by age and level: index of the level's first row in rows, [levels+1]
}

// maskBits is the number of ages that a mask has bits for. Wider windows compute all states.
const maskBits = 64

// rowsToCompute returns the rows of a level whose states of an age a layer computes.
func (p *Propagator) rowsToCompute(age, level int) []int32 {
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
func (p *Propagator) maxUpdates(ages int) (count int) {
	if p.needed.all {
		return ages * p.layout.Count()
	}
	for _, rows := range p.needed.rows[:ages] {
		count += len(rows)
	}
	return count
}

// findNeeded finds the states that the final states of candidates depend on, layer by layer from the
// last to the first. Nil candidates need all.
func (p *Propagator) findNeeded(candidates []int32, ages int) {
	need := &p.needed
	need.all = candidates == nil || ages > maskBits
	if need.all {
		return
	}
	need.masks = buffer.Cleared(need.masks, p.layout.Count())
	for _, entity := range candidates {
		first, last, row := p.finalAges(entity)
		for age := first; age <= last; age++ {
			need.masks[row] |= 1 << age
		}
	}
	for t := p.configuration.Layers; t >= 1; t-- {
		for age := 0; age < min(ages, t+1); age++ {
			p.needSenders(t-age, age)
		}
	}
	p.listNeeded(ages)
}

// needSenders marks what the needed states of an age of a level are computed from: the entities' own
// states before, their parents' of the same age, their siblings' of the age before and their
// children's of two ages before.
func (p *Propagator) needSenders(level, age int) {
	masks, senders := p.needed.masks, &p.layout.Senders
	for _, i := range p.layout.Level(level) {
		if masks[i]>>age&1 == 0 {
			continue
		}
		if age > 0 {
			masks[i] |= 1 << (age - 1)
		}
		for k := range int32(min(age+1, 3)) {
			bit, offset := uint64(1)<<(age-int(k)), p.layout.SenderRow(0, int(k))
			for _, sender := range senders.Rows[senders.Offsets[3*i+k]:senders.Offsets[3*i+k+1]] {
				masks[sender+offset] |= bit
			}
		}
	}
}

// listNeeded turns the masks into lists.
func (p *Propagator) listNeeded(ages int) {
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

// clearGradients zeroes the gradients of all needed states. The source's first state is among them,
// as any state that a message is read from, though no layer computes it.
func (p *Propagator) clearGradients() {
	d := p.configuration.Dim
	if p.needed.all {
		for _, table := range p.gradients.each {
			clear(table[:p.layout.Count()*d])
		}
		return
	}
	clear(p.gradients.each[0][:d])
	for age, rows := range p.needed.rows[:len(p.gradients.each)] {
		for _, row := range rows {
			clear(p.gradients.each[age][int(row)*d : int(row+1)*d])
		}
	}
}
