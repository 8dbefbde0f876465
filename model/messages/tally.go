package messages

import "tagnet/model/configuration"

// tally is by how much the levels of a source change, in halves of edges.
type tally struct {
	between, within [configuration.MaxLayers + 2]int64
}

// take takes what lies around an entity that leaves a level.
func (t *tally) take(level int, a around) {
	t.between[level] -= a.count(0)
	t.within[level] -= a.count(1)
	t.between[level+1] -= a.count(2)
}

// give adds what lies around an entity that arrives at a distance.
func (t *tally) give(distance int, a around) {
	t.between[distance] += a.count(0)
	t.within[distance] += a.count(1)
	t.between[distance+1] += a.count(2)
}

// apply changes the levels up to hops accordingly, and clears the tally. An edge within a level
// is counted with its reciprocal, so that a half of either is one; one between levels is not.
func (t *tally) apply(l *Levels, hops int) {
	for distance := 1; distance <= hops; distance++ {
		l.Within[distance] += t.within[distance]
		l.Between[distance] += t.between[distance] / 2
	}
	*t = tally{}
}
