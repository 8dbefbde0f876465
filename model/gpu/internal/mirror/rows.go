package mirror

// ActivateAll activates the sources before layer 1, and all updates that the window admits.
func (p *Batch) ActivateAll() {
	for t := range p.Layers + 1 {
		for b := range p.Batch {
			for v := range int32(p.Entities) {
				distance := p.distance(b, v)
				p.activate(t, b, v, distance <= t && t <= distance+p.Delta && (t > 0 || v == p.Queries[b].Source))
			}
		}
	}
}

func (p *Batch) activate(t, b int, entity int32, active bool) {
	value := uint8(0)
	if active {
		value = 1
	}
	p.Active[(t*p.Batch+b)*p.Entities+int(entity)] = value
}

// ActivateCandidates activates the updates that the candidates' final states are made of.
func (p *Batch) ActivateCandidates() {
	for b, q := range p.Queries[:p.Batch] {
		p.activate(0, b, q.Source, true)
		for c, v := range p.CandidateEntities[b*p.CandidateStride:][:q.Candidates] {
			p.Slots[b*p.Entities+int(v)] = int32(c + 1)
			distance := p.distance(b, v)
			if distance == unreached {
				continue
			}
			last := distance + p.lastAge(distance)
			first := last
			if p.Specific {
				first = distance
			}
			for t := max(first, 1); t <= last; t++ {
				p.activate(t, b, v, true)
			}
		}
	}
}

// ActivateSenders activates the updates in layer t-1 that those in layer t read: the entity's own and its senders'.
func (p *Batch) ActivateSenders(t int) {
	for b, q := range p.Queries[:p.Batch] {
		for v := range int32(p.Entities) {
			if distance := p.distance(b, v); distance > t-1 || t-1 > distance+p.Delta {
				continue
			}
			needed := p.active(t-1, b, v) || p.active(t, b, v)
			from, to := p.inEdges(v)
			for e := from; e < to; e++ {
				// The edge's inverse takes v's state to u.
				u := p.Senders[e]
				needed = needed || p.active(t, b, u) && !q.removes(u, p.Relations[e], v)
			}
			p.activate(t-1, b, v, needed)
		}
	}
}

// isHeavy reports whether a layer's update of an entity is among the heavy ones; layer 0's all are.
func (p *Batch) isHeavy(t int, entity int32) bool {
	from, to := p.inEdges(entity)
	return t == 0 || to-from > heavy
}

// RowsCount counts the rows of each layer, class and query.
func (p *Batch) RowsCount() {
	for t := range p.Layers + 1 {
		for b := range p.Batch {
			counts := [2]int32{}
			for v := range int32(p.Entities) {
				switch {
				case !p.active(t, b, v):
				case p.isHeavy(t, v):
					counts[0]++
				default:
					counts[1]++
				}
			}
			p.Counts[2*t*p.Batch+b], p.Counts[(2*t+1)*p.Batch+b] = counts[0], counts[1]
		}
	}
}

// RowsStart sets the first row of each layer, class and query.
func (p *Batch) RowsStart() {
	next := int32(0)
	for t := range p.Layers + 1 {
		p.RowBegin[t] = next
		for class := range 2 {
			if class == 1 {
				p.HeavyEnd[t] = next
			}
			for b := range p.Batch {
				p.Starts[(2*t+class)*p.Batch+b] = next
				next += p.Counts[(2*t+class)*p.Batch+b]
			}
		}
	}
	p.RowBegin[p.Layers+1] = next
}

// RowsWrite numbers the rows of each layer and query, heavy entities first, and of either those with most edges.
func (p *Batch) RowsWrite() {
	for t := range p.Layers + 1 {
		for b, q := range p.Queries[:p.Batch] {
			next := [2]int32{p.Starts[2*t*p.Batch+b], p.Starts[(2*t+1)*p.Batch+b]}
			for _, v := range p.Order[:p.Entities] {
				if !p.active(t, b, v) {
					continue
				}
				class := 1
				if p.isHeavy(t, v) {
					class = 0
				}
				row := next[class]
				next[class]++
				r := p.newRow(b, v, q)
				p.Rows[row], p.RowDegree[row] = r, r.Degree
				p.RowNumbers[(t*p.Batch+b)*p.Entities+int(v)] = 1 + row - p.Starts[2*t*p.Batch]
			}
		}
	}
}

// newRow returns the row of an entity for query b.
func (p *Batch) newRow(b int, v int32, q Query) Row {
	begin, end := p.inEdges(v)
	r := Row{Query: int32(b), Entity: v, Begin: int32(begin), End: int32(end), Degree: int32(end - begin), Distance: int32(p.distance(b, v))}
	switch v {
	case q.Source:
		r.Degree -= q.SourceDrop
		r.Flags |= source
	case q.Answer:
		r.Degree -= q.AnswerDrop
	}
	if q.Removal != 0 && (v == q.Source || v == q.Answer) {
		r.Flags |= touched
	}
	if p.Training {
		r.Slot = p.Slots[b*p.Entities+int(v)]
	}
	return r
}

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// DrawMasks draws the dropout masks of all rows but the sources': every 64 random bits decide four dimensions. pairs is the number of
// dimensions that the CPU has that far apart, and the kernels side by side.
func (p *Batch) DrawMasks(pairs int) {
	words := p.Dim / 32
	for t := 1; t <= p.Layers; t++ {
		for i := p.firstRow(t); i < p.endRow(t); i++ {
			row := p.Rows[i]
			state := mix(p.Queries[row.Query].Seed ^ mix(uint64(t-1)<<32|uint64(uint32(row.Entity))))
			clear(p.Masks[i*words : (i+1)*words])
			for j := range p.Dim {
				dim := j
				if j < 2*pairs {
					dim = j%2*pairs + j/2
				}
				random := mix(state + uint64(dim/4+1)*0x9e3779b97f4a7c15)
				if int(random>>(16*(dim%4))&0xffff) >= p.Threshold {
					p.Masks[i*words+j/32] |= 1 << (j % 32)
				}
			}
		}
	}
}
