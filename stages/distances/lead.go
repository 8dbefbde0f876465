package distances

import "context"

// lead sends what a block's fresh entities of a range lead to, to the ranges of those: run by
// run of the range's edges, and within a run each entity once. Nothing is sent where nothing is
// fresh.
func (p JoinParams) lead(ctx context.Context, block, of int, fresh *frontier, emit func(int, []byte)) error {
	if !anyOf(fresh.bits) {
		return nil
	}
	next := make([]uint64, p.widest()*p.Words)
	return eachRun(ctx, p, of, func(r *run) error {
		s := newSpread(r, fresh)
		for to := range p.Ranges {
			if len(s.active) == 0 {
				return nil
			}
			first, last := p.Range(to)
			reached := &frontier{from: first, words: p.Words, bits: next[:int(last-first)*p.Words]}
			if !s.into(reached, last) {
				continue
			}
			if to == of { // what is fresh here was here already
				for i, sources := range fresh.bits {
					reached.bits[i] &^= sources
				}
			}
			key := p.key(block, to)
			if err := reached.encode(func(element []byte) { emit(key, element) }); err != nil {
				return err
			}
			clear(reached.bits)
		}
		return nil
	})
}

func anyOf(bits []uint64) bool {
	for _, b := range bits {
		if b != 0 {
			return true
		}
	}
	return false
}

// spread goes along the edges of a run from its fresh entities, by increasing entity that they
// lead to.
type spread struct {
	senders []int32
	active  []active
}

// active is a fresh entity with edges still to go along, at..end-1 of the run's.
type active struct {
	sources []uint64
	at, end int32
}

func newSpread(r *run, fresh *frontier) *spread {
	s := &spread{senders: r.senders}
	for i := range len(r.offsets) - 1 {
		sources := fresh.of(r.first + int32(i))
		if r.offsets[i] < r.offsets[i+1] && anyOf(sources) {
			s.active = append(s.active, active{sources, r.offsets[i], r.offsets[i+1]})
		}
	}
	return s
}

// into marks the entities below last that the edges lead to, and tells whether there are any.
func (s *spread) into(reached *frontier, last int32) (some bool) {
	left := s.active[:0]
	for _, a := range s.active {
		for ; a.at < a.end && s.senders[a.at] < last; a.at++ {
			some = true
			into := reached.of(s.senders[a.at])
			for i, sources := range a.sources {
				into[i] |= sources
			}
		}
		if a.at < a.end {
			left = append(left, a)
		}
	}
	s.active = left
	return some
}
