package window

import (
	"slices"

	"tagnet/model/graph"
)

// Twin is a position whose entity hears what another's hears, the same relations from the
// same senders. Whatever is propagated from elsewhere, their states are equal: one is
// computed, the other copied. In WN18RR every eighth entity is another's twin.
type Twin struct{ Position, Of int32 }

// classes gives every entity the smallest id among its twins, its own where it has none.
func classes(g *graph.Graph) []int32 {
	class := make([]int32, g.Entities)
	first := make(map[uint64]int32) // by hash of what is heard
	for o := range int32(g.Entities) {
		class[o] = o
		senders, relations := g.In(o)
		if len(senders) == 0 {
			continue // it is never reached but as the source
		}
		hash := hashLists(senders, relations)
		other, seen := first[hash]
		if !seen {
			first[hash] = o
			continue
		}
		if a, b := g.In(other); slices.Equal(a, senders) && slices.Equal(b, relations) {
			class[o] = other
		}
	}
	return class
}

// hashLists mixes two lists as FNV-1a does, a number at a time.
func hashLists(lists ...[]int32) uint64 {
	hash := uint64(14695981039346656037)
	for _, list := range lists {
		for _, v := range list {
			hash = (hash ^ uint64(uint32(v))) * 1099511628211
		}
	}
	return hash
}

// findTwins parts the positions into those that are computed and those that are copied.
func (l *Layout) findTwins(removal graph.Removal) {
	l.Leaders, l.LeaderLevels, l.Twins, l.TwinLevels = l.Leaders[:0], append(l.LeaderLevels[:0], 0), l.Twins[:0], append(l.TwinLevels[:0], 0)
	for level := range len(l.Levels) - 1 {
		leader, class := int32(-1), int32(-1)
		for i := l.Levels[level]; i < l.Levels[level+1]; i++ {
			o := l.Entities[i]
			if l.class[o] == class && !removal.Touches(o) {
				l.Twins = append(l.Twins, Twin{i, leader})
				continue
			}
			l.Leaders = append(l.Leaders, i)
			leader, class = i, l.class[o]
			if removal.Touches(o) {
				class = -1 // nobody hears the same any more
			}
		}
		l.LeaderLevels, l.TwinLevels = append(l.LeaderLevels, int32(len(l.Leaders))), append(l.TwinLevels, int32(len(l.Twins)))
	}
}
