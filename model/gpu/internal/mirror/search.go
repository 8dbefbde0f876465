package mirror

// ConfineStart makes no entity a member.
func (p *Batch) ConfineStart() {
	for i := range p.Batch * p.Entities {
		p.Outside[i] = unreached
	}
}

// Confine makes the entities that each query propagates through its members.
func (p *Batch) Confine() {
	for b, q := range p.Queries[:p.Batch] {
		for _, v := range p.Members[b*p.Reach:][:q.Members] {
			p.Outside[b*p.Entities+int(v)] = 0
		}
	}
}

// member reports whether a query propagates through an entity.
func (p *Batch) member(b, v int) bool { return p.Reach == 0 || p.Outside[b*p.Entities+v] == 0 }

// SearchStart sets the sources' distances to 0 and all others to unreached.
func (p *Batch) SearchStart() {
	for b, q := range p.Queries[:p.Batch] {
		for v := range p.Entities {
			p.Reached[b*p.Entities+v] = unreached
		}
		p.Reached[b*p.Entities+int(q.Source)] = 0
	}
}

// SearchFirst sets the distances of the sources' neighbors to 1. Removed edges leave the source or enter it.
func (p *Batch) SearchFirst() {
	for b, q := range p.Queries[:p.Batch] {
		from, to := p.inEdges(q.Source)
		for e := from; e < to; e++ {
			u := p.Senders[e] // every edge has its inverse: the source's senders are its receivers
			if u != q.Source && !q.removes(q.Source, p.inverse(p.Relations[e]), u) && p.member(b, int(u)) {
				p.Reached[b*p.Entities+int(u)] = 1
			}
		}
	}
}

// SearchPack sets the first frontier, and what has been seen or is no member, as bits: bit b%32 of word b/32 is query b.
func (p *Batch) SearchPack() {
	for group := range blocks(p.Batch, 32) {
		for v := range p.Entities {
			var first, seen uint32
			for b := 32 * group; b < min(32*group+32, p.Batch); b++ {
				distance := p.Reached[b*p.Entities+v]
				if distance == 1 {
					first |= 1 << (b % 32)
				}
				if distance <= 1 || !p.member(b, v) {
					seen |= 1 << (b % 32)
				}
			}
			p.Frontier[group*p.Entities+v], p.Seen[group*p.Entities+v] = first, seen
		}
	}
}

// SearchNext finds the entities at a distance from 2 on: those not seen with a neighbor in the frontier.
func (p *Batch) SearchNext(distance int) {
	from, to := p.Frontier, p.Found
	if distance%2 == 1 {
		from, to = to, from
	}
	for group := range blocks(p.Batch, 32) {
		words := from[group*p.Entities:]
		for v := range p.Entities {
			var found uint32
			begin, end := p.inEdges(int32(v))
			for _, u := range p.Senders[begin:end] {
				found |= words[u]
			}
			i := group*p.Entities + v
			found &^= p.Seen[i]
			to[i] = found
			p.Seen[i] |= found
			for b := range min(32, p.Batch-32*group) {
				if found>>b&1 == 1 {
					p.Reached[(32*group+b)*p.Entities+v] = uint8(distance)
				}
			}
		}
	}
}
