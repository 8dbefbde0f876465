package mirror

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
			if u != q.Source && !q.removes(q.Source, p.inverse(p.Relations[e]), u) {
				p.Reached[b*p.Entities+int(u)] = 1
			}
		}
	}
}

// SearchPack sets the first frontier, and what has been seen, as bits: bit b%32 of word b/32 is query b.
func (p *Batch) SearchPack() {
	for group := range blocks(p.Batch, 32) {
		for v := range p.Entities {
			var first, seen uint32
			for b := 32 * group; b < min(32*group+32, p.Batch); b++ {
				switch p.Reached[b*p.Entities+v] {
				case 0:
					seen |= 1 << (b % 32)
				case 1:
					first, seen = first|1<<(b%32), seen|1<<(b%32)
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
