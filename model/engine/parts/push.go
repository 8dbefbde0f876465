package parts

import (
	"math"

	"tagnet/model/graph"
)

const (
	// unit is the mass of the source. The scores, of which all hops together have less than 20/3 of it, fit a uint64.
	unit uint64 = 1 << 60
	// edgesPerEntity is the number of edges that a hop may push along for each entity of the part.
	edgesPerEntity = 4
	// relief divides the floor of a second push, where the first gave too few entities any mass.
	relief = 8
	// plenty is how many entities get mass, for each of the part, before the second push ends after a hop.
	plenty = 4
)

// push computes the scores of the entities that mass arrives at, by number. No share is below floor. It ends after the
// hop that brings mass to enough entities. It returns the number of complete hops, and whether the push has ended: it
// stops before a hop that lacks lists.
func (f *Finder) push(q graph.Query, floor uint64, enough int) (hops int, complete bool) {
	f.found.reset()
	f.scores, f.mass, f.incoming = f.scores[:0], f.mass[:0], f.incoming[:0]
	f.frontier = append(f.frontier[:0], f.touch(q.Source))
	f.scores[0], f.mass[0] = unit, unit
	missed := f.missed()
	for hop := range f.hops {
		f.next = f.next[:0]
		for _, number := range f.frontier {
			f.send(number, q, floor)
		}
		if f.missed() > missed {
			return hop, false
		}
		for _, number := range f.next {
			f.scores[number] += f.incoming[number]
			f.mass[number], f.incoming[number] = f.incoming[number], 0
		}
		f.frontier, f.next = f.next, f.frontier
		if len(f.scores) >= enough {
			return hop + 1, true
		}
	}
	return f.hops, true
}

// touch returns the number of an entity.
func (f *Finder) touch(entity int32) int32 {
	number, isNew := f.found.add(entity)
	if isNew {
		f.scores, f.mass, f.incoming = append(f.scores, 0), append(f.mass, 0), append(f.incoming, 0)
	}
	return number
}

// send sends an entity's mass along its edges, if their shares are large enough.
func (f *Finder) send(number int32, q graph.Query, floor uint64) {
	u, mass, limit := f.found.entities[number], f.mass[number]/20*17, uint64(math.MaxUint64)
	if floor > 1 {
		limit = mass / floor // the highest degree of an entity whose shares are not below the floor
	}
	degree, neighbors, relations := f.upTo(u, limit, q)
	if len(neighbors) == 0 || degree == 0 {
		return
	}
	share := max(1, mass/uint64(degree))
	touched := q.Touches(u)
	for i, o := range neighbors {
		if touched && f.graph.Removes(q, o, relations[i], u) {
			continue
		}
		to := f.touch(o)
		if f.incoming[to] == 0 {
			f.next = append(f.next, to)
		}
		f.incoming[to] += share
	}
}
