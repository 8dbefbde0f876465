package study

import "tagnet/model/weights/configuration"

// tally is the change of a source's levels, in halves of edges.
type tally struct {
	between, within [configuration.MaxLayers + 2]int64
}

// subtract subtracts the edges of an entity that leaves a level.
func (t *tally) subtract(level int, c edgeCounts) {
	t.between[level] -= c.get(0)
	t.within[level] -= c.get(1)
	t.between[level+1] -= c.get(2)
}

// add adds the edges of an entity that arrives at a distance.
func (t *tally) add(distance int, c edgeCounts) {
	t.between[distance] += c.get(0)
	t.within[distance] += c.get(1)
	t.between[distance+1] += c.get(2)
}

// apply adds the tally to the levels up to hops, and clears it. An edge within a level is counted with
// its inverse, so half of either is one; an edge between levels is not.
func (t *tally) apply(l *Levels, hops int) {
	for distance := 1; distance <= hops; distance++ {
		l.Within[distance] += t.within[distance]
		l.Between[distance] += t.between[distance] / 2
	}
	*t = tally{}
}
