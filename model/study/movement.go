package study

import "tagnet/formats/hop"

// movement packs the distances of an entity in the whole graph and in a query's, four bits each. They
// differ if and only if the entity moves.
type movement uint8

// unreached is the distance of an entity that is not reached: the low four bits of hop.Unreached,
// beyond every other distance.
const unreached = hop.Packed

// stay returns the movement of an entity that keeps its distance.
func stay(distance uint8) movement { return movement(distance&15) * 17 }

func (m movement) before() int              { return int(m & 15) }
func (m movement) after() int               { return int(m >> 4) }
func (m movement) moves() bool              { return m.before() != m.after() }
func (m movement) to(distance int) movement { return m&15 | movement(distance)<<4 }

// edgeCounts packs five counts of an entity's edges, 12 bits each. Counts 0 to 2 are halves of edges
// to the previous level, to the same and to the next. Counts 3 and 4 are neighbors which decide the
// distance of the entity or of themselves. Both halves of an edge count at the entity if its other
// end stays; else one may count at either end.
type edgeCounts uint64

const (
	countBits  = 12
	maxCounted = 1<<(countBits-1) - 1 // edges that edgeCounts hold without overflow
)

func (c edgeCounts) get(i uint) int64 { return int64(c >> (countBits * i) & (1<<countBits - 1)) }

// leaving[level][m] are the counts of an edge for an entity that leaves a level, to a neighbor of
// movement m. A neighbor that leaves too counts the other half itself. Counts 3 and 4 are the
// neighbors that stay on the same level and on the next.
var leaving = tabulate(func(level int, m movement) (halves, distance, extra int) {
	switch {
	case m.moves():
		return 1, m.before(), 0
	case m.before() == level:
		return 2, m.before(), 3
	case m.before() == level+1:
		return 2, m.before(), 4
	}
	return 2, m.before(), 0
})

// nearest returns the distance of the nearest neighbors that stay, for an entity that leaves a level.
func (c edgeCounts) nearest(level int) int {
	switch {
	case c.get(3) > 0:
		return level
	case c.get(4) > 0:
		return level + 1
	}
	return unreached
}

// arriving[distance][m] are the counts of an edge for an entity that arrives at a distance, from a
// neighbor of movement m. A neighbor that arrives later counts the edge itself; one that arrives
// together counts the other half. Count 3 is the neighbors that moved beyond distance+1.
var arriving = tabulate(func(distance int, m movement) (halves, level, extra int) {
	switch {
	case !m.moves() || m.after() < distance:
		return 2, m.after(), 0
	case m.after() == distance:
		return 1, m.after(), 0
	case m.after() > distance+1:
		return 0, m.after(), 3
	}
	return 0, m.after(), 0
})

// farther reports whether a neighbor moved beyond the next level.
func (c edgeCounts) farther() bool { return c.get(3) > 0 }

// tabulate returns the table of an edge's counts by the level that an entity leaves or arrives at and
// the neighbor's movement. edge returns the number of halves, the neighbor's level, and which of
// counts 3 and 4 to increment, or 0.
func tabulate(edge func(level int, m movement) (halves, distance, extra int)) *[unreached][256]edgeCounts {
	var table [unreached][256]edgeCounts
	for level := range table {
		for m := range table[level] {
			halves, distance, extra := edge(level, movement(m))
			if side := distance - level + 1; side >= 0 && side <= 2 {
				table[level][m] += edgeCounts(halves) << (countBits * side)
			}
			if extra > 0 {
				table[level][m] += 1 << (countBits * extra)
			}
		}
	}
	return &table
}
