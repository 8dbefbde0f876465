package propagation

// needed is which updates a query wants, by age: while training only those that the final
// states of its candidates are made of. With few candidates in a large graph that is the
// lesser part; the states that nobody asks for get no gradient either.
type needed struct {
	all   bool      // everything is, and the rest says nothing
	masks []uint64  // by row: bit k for its state of age k
	rows  [][]int32 // by age: the rows wanted, in order
	from  [][]int32 // by age and level: where its rows begin; [levels+1]
}

// maskedAges is how many ages a mask has bits for. Wider windows want all updates.
const maskedAges = 64

// wanted returns the rows of a level whose state of an age is to be computed.
func (p *Propagator) wanted(age, level int) []int32 {
	switch {
	case p.sharing():
		alike := &p.layout.Ages[age]
		return alike.Leaders[alike.LeaderLevels[level]:alike.LeaderLevels[level+1]]
	case p.needed.all:
		return p.layout.Level(level)
	}
	from := p.needed.from[age]
	return p.needed.rows[age][from[level]:from[level+1]]
}

// updates bounds the number of updates that are wanted, of so many ages.
func (p *Propagator) updates(ages int) (count int) {
	if p.needed.all {
		return ages * p.layout.Count()
	}
	for _, rows := range p.needed.rows[:ages] {
		count += len(rows)
	}
	return count
}

// want finds out what the query's candidates need. Nil candidates need everything.
func (p *Propagator) want(candidates []int32, ages int) {
	need := &p.needed
	need.all = candidates == nil || ages > maskedAges
	if need.all {
		return
	}
	need.masks = cleared(need.masks, p.layout.Count())
	for _, entity := range candidates {
		first, last, row := p.ages(entity)
		for age := first; age <= last; age++ {
			need.masks[row] |= 1 << age
		}
	}
	for t := p.configuration.Layers; t >= 1; t-- {
		for age := 0; age < min(ages, t+1); age++ {
			p.wantSenders(t-age, age)
		}
	}
	p.listWanted(ages)
}

// wantSenders wants what a level's states of an age, so far as they are wanted themselves,
// are made of: the states before, the parents' of the same age, the siblings' of the age
// before and the children's of two before.
func (p *Propagator) wantSenders(level, age int) {
	masks, senders := p.needed.masks, &p.layout.Senders
	for _, i := range p.layout.Level(level) {
		if masks[i]>>age&1 == 0 {
			continue
		}
		if age > 0 {
			masks[i] |= 1 << (age - 1)
		}
		for k := range int32(min(age+1, 3)) {
			bit, before := uint64(1)<<(age-int(k)), p.layout.Row(0, int(k))
			for _, sender := range senders.Rows[senders.Bounds[3*i+k]:senders.Bounds[3*i+k+1]] {
				masks[sender+before] |= bit
			}
		}
	}
}

// listWanted turns the masks into lists.
func (p *Propagator) listWanted(ages int) {
	need, levels := &p.needed, p.configuration.Layers+1
	for len(need.rows) < ages {
		need.rows, need.from = append(need.rows, nil), append(need.from, make([]int32, levels+1))
	}
	for age := range ages {
		rows, from := need.rows[age][:0], need.from[age]
		for level := range levels {
			from[level] = int32(len(rows))
			for _, i := range p.layout.Level(level) {
				if need.masks[i]>>age&1 != 0 {
					rows = append(rows, i)
				}
			}
		}
		from[levels] = int32(len(rows))
		need.rows[age] = rows
	}
}

// clearGradients makes the gradients of all wanted states zero. The source's first state,
// which no layer updates, is wanted like any that a message is read from.
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
