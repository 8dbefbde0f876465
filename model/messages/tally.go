package messages

import "tagnet/model/configuration"

// tally is by how much the edges between each two levels change, [receiver][sender], when some
// entities move: an edge between two that move counts once at either end, and one to an entity
// that stays twice at the end that moves. The last level is that of the unreached.
type tally [tallied][tallied]int64

const tallied = 16

// A level is the last four bits of a distance, and all of them are set where it is unreached.
var _ [tallied - 1 - configuration.MaxLayers - 1]struct{}

// count moves the edges that enter an entity.
func (t *tally) count(senders []int32, receiver int32, before, after []uint8) {
	from, to := &t[before[receiver]%tallied], &t[after[receiver]%tallied]
	for _, u := range senders {
		ends := int64(1)
		if before[u] == after[u] {
			ends = 2
		}
		from[before[u]%tallied] -= ends
		to[after[u]%tallied] += ends
	}
}

// apply changes the levels up to hops accordingly, and clears the tally.
func (t *tally) apply(l *Levels, hops int) {
	for distance := 1; distance <= hops; distance++ {
		l.Within[distance] += t[distance][distance]
		l.Between[distance] += (t[distance][distance-1] + t[distance-1][distance]) / 2
	}
	*t = tally{}
}
