package messages

import "tagnet/model/configuration"

// place is where an entity was in the whole graph and where it is in a query's, as distances of
// four bits each. They differ where it moves, and only there.
type place uint8

// unreached is the distance of a place that is not reached: the four bits of search.Unreached,
// beyond every other.
const unreached = 15

var _ [unreached - configuration.MaxLayers - 1]struct{}

// stay is the place of an entity that does not move.
func stay(distance uint8) place { return place(distance&15) * 17 }

func (p place) before() int           { return int(p & 15) }
func (p place) after() int            { return int(p >> 4) }
func (p place) moves() bool           { return p.before() != p.after() }
func (p place) at(distance int) place { return p&15 | place(distance)<<4 }

// around counts what lies around an entity that moves, 12 bits each: halves of edges to the level
// before, to its own and to the next, and neighbours of two kinds, which matter for where they move.
// An edge has two halves: both count at the entity if the neighbour stays where it is, else one
// may count at either end.
type around uint64

const (
	aroundBits = 12
	chunk      = 1<<(aroundBits-1) - 1 // how many edges an around can count
)

func (a around) count(of uint) int64 { return int64(a >> (aroundBits * of) & (1<<aroundBits - 1)) }

// leaving[level][place] is what an edge counts for an entity that leaves a level: one to a neighbour
// that leaves too counts a half there as well. The two kinds are the neighbours that stay on the
// same level and on the next.
var leaving = tabulate(func(level int, p place) (halves, distance, kind int) {
	switch {
	case p.moves():
		return 1, p.before(), 0
	case p.before() == level:
		return 2, p.before(), 3
	case p.before() == level+1:
		return 2, p.before(), 4
	}
	return 2, p.before(), 0
})

// nearest is the distance of the nearest neighbours that stay, seen from a level that is left.
func (a around) nearest(level int) int {
	switch {
	case a.count(3) > 0:
		return level
	case a.count(4) > 0:
		return level + 1
	}
	return unreached
}

// arriving[distance][place] is what an edge counts for an entity that arrives at a distance: one to
// a neighbour that has still to arrive counts there, and one to a neighbour that arrives together
// with it a half there as well. The one kind is the neighbours that moved to farther than one more.
var arriving = tabulate(func(distance int, p place) (halves, at, kind int) {
	switch {
	case !p.moves() || p.after() < distance:
		return 2, p.after(), 0
	case p.after() == distance:
		return 1, p.after(), 0
	case p.after() > distance+1:
		return 0, p.after(), 3
	}
	return 0, p.after(), 0
})

// farther tells whether a neighbour moved to farther than one more than where an entity arrives.
func (a around) farther() bool { return a.count(3) > 0 }

// tabulate makes a table for every level or distance that an entity can move from or to.
func tabulate(edge func(level int, p place) (halves, distance, kind int)) *[unreached][256]around {
	var table [unreached][256]around
	for level := range table {
		for p := range table[level] {
			halves, distance, kind := edge(level, place(p))
			if side := distance - level + 1; side >= 0 && side <= 2 {
				table[level][p] += around(halves) << (aroundBits * side)
			}
			if kind > 0 {
				table[level][p] += 1 << (aroundBits * kind)
			}
		}
	}
	return &table
}
