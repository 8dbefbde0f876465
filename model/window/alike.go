package window

import (
	"math"
	"math/bits"
)

// Alike says, for one age, which rows' states are computed and which are copies of another's.
// Entities of a level whose set of messages is the same, as far as that age has heard, have
// the same state, whatever is asked: their parents are alike and so are the relations from
// them, and the same goes for their siblings and children. In WN18RR, where many hang on one hub
// by one relation, that is every other state; in FB15k-237 every eleventh.
type Alike struct {
	// Leaders are the rows whose states are computed, level by level, in order.
	Leaders []int32
	// Twins are the others, level by level.
	Twins []Twin
	// LeaderLevels and TwinLevels have the first of each level, and the number of all after
	// the last, [hops+2].
	LeaderLevels, TwinLevels []int32

	leader []int32 // of each row, itself where it is none's twin, [n]
	paired []bool  // by row: a twin, or a leader who has one, [n]
}

// Twin is a row whose state is that of another.
type Twin struct{ Row, Of int32 }

// Distinction is what else makes states differ.
type Distinction struct {
	// Empties counts messages that say nothing but their relation, as TransE's do: those of
	// senders that were not reached yet.
	Empties bool
	// Admitted is whether the number of admitted senders matters, as it does where the others
	// send a degree message.
	Admitted bool
}

// mostCompared is how many messages an entity may hear to be compared with others: hardly
// any two that hear more are alike, and most that are have heard one.
const mostCompared = 4

// FindAlike fills Ages for what Fill laid out, once.
func (l *Layout) FindAlike(d Distinction) {
	if l.compared {
		return
	}
	l.compared = true
	ages := min(l.delta, l.hops) + 1
	l.beginAges(ages)
	for layer := 1; layer <= l.hops; layer++ {
		for age := 0; age < min(ages, layer+1); age++ {
			l.compare(age, layer-age, d)
		}
	}
}

// beginAges empties Ages. The source's first state is nobody's twin, and no layer computes it.
func (l *Layout) beginAges(ages int) {
	for len(l.allAges) < ages {
		l.allAges = append(l.allAges, Alike{})
	}
	l.Ages = l.allAges[:ages]
	for age := range l.Ages {
		a := &l.Ages[age]
		a.Leaders, a.Twins = a.Leaders[:0], a.Twins[:0]
		a.LeaderLevels, a.TwinLevels = append(a.LeaderLevels[:0], 0), append(a.TwinLevels[:0], 0)
		a.leader = resize(a.leader, l.Count())
		a.paired = resize(a.paired, l.Count())
		clear(a.paired)
	}
	first := &l.Ages[0]
	first.leader[0] = 0
	first.LeaderLevels, first.TwinLevels = append(first.LeaderLevels, 0), append(first.TwinLevels, 0)
}

// compare parts the rows of a level into leaders and twins at an age.
func (l *Layout) compare(age, level int, d Distinction) {
	a, rows := &l.Ages[age], l.Level(level)
	candidates := l.comparable(age, rows)
	slots := l.emptySlots(len(candidates))
	last := uint64(len(slots) - 1)
	copy(a.leader[l.Levels[level]:], rows)
	first, listed := l.Levels[level], 0
	for _, i := range candidates {
		hash := l.hash(i, age, d)
		if hash == alone {
			continue
		}
		at := hash & last
		for slots[at] != 0 && !(slots[at]>>32 == hash>>32 && l.alike(int32(slots[at]), i, age, d)) {
			at = (at + 1) & last
		}
		if slots[at] == 0 {
			slots[at] = hash&^math.MaxUint32 | uint64(i)
			continue
		}
		other := int32(slots[at])
		a.leader[i], a.paired[i], a.paired[other] = other, true, true
		a.Twins = append(a.Twins, Twin{i, other})
		a.Leaders = append(a.Leaders, rows[listed:i-first]...)
		listed = int(i-first) + 1
	}
	a.Leaders = append(a.Leaders, rows[listed:]...)
	a.LeaderLevels, a.TwinLevels = append(a.LeaderLevels, int32(len(a.Leaders))), append(a.TwinLevels, int32(len(a.Twins)))
}

// comparable lists the rows of a level that may be alike at an age: no two are that were not
// before, and of the first age all that have few parents.
func (l *Layout) comparable(age int, rows []int32) []int32 {
	l.candidates = resize(l.candidates, len(rows))
	out, n := l.candidates[:len(rows)], 0
	if age > 0 {
		paired := l.Ages[age-1].paired
		for _, i := range rows {
			out[n] = i
			if paired[i] {
				n++
			}
		}
		return out[:n]
	}
	bounds := l.Senders.Bounds
	for _, i := range rows {
		out[n] = i
		if bounds[3*i+1]-bounds[3*i] <= mostCompared {
			n++
		}
	}
	return out[:n]
}

// emptySlots is a hash table for so many rows: a slot is the upper half of a hash and a row,
// or 0.
func (l *Layout) emptySlots(rows int) []uint64 {
	size := 16
	for size < 2*rows {
		size *= 2
	}
	if cap(l.slots) < size {
		l.slots = make([]uint64, size)
	}
	l.slots = l.slots[:size]
	clear(l.slots)
	return l.slots
}

// alone is the hash of a row that is not worth comparing.
const alone = 0

// hash mixes all that alike compares but the number of admitted senders, of which there are few:
// were more left out, the rows of a large level that differ in it would all be compared with one
// another.
func (l *Layout) hash(i int32, age int, d Distinction) uint64 {
	hash := uint64(l.Degrees[i])
	if age > 0 {
		hash |= uint64(l.Ages[age-1].leader[i]) << 32
	}
	hash = mix(hash)
	kinds := l.heard(age, d)
	if begin, end := l.Senders.Of(i, kinds); end-begin > mostCompared {
		return alone
	}
	for k := range kinds {
		first, end := l.Senders.Bounds[3*i+int32(k)], l.Senders.Bounds[3*i+int32(k)+1]
		for e := first; e < end; e++ {
			message := uint64(l.Senders.Relations[e])
			if k <= age {
				message |= uint64(l.leaderOf(e, k, age)) << 32
			}
			hash = mix(hash ^ message)
		}
	}
	return hash | 1<<63 // not alone
}

// mix spreads every bit of a value over all bits.
func mix(value uint64) uint64 {
	high, low := bits.Mul64(value, 0x9e3779b97f4a7c15)
	return high ^ low
}

// alike tells whether two rows of a level, whose states were alike before, are at an age.
func (l *Layout) alike(i, j int32, age int, d Distinction) bool {
	if l.Degrees[i] != l.Degrees[j] || age > 0 && l.Ages[age-1].leader[i] != l.Ages[age-1].leader[j] {
		return false
	}
	if d.Admitted && l.Admitted(i) != l.Admitted(j) {
		return false
	}
	for k := range l.heard(age, d) {
		if !l.sameMessages(i, j, k, age) {
			return false
		}
	}
	return true
}

// heard is how many kinds of senders an entity of an age hears.
func (l *Layout) heard(age int, d Distinction) int {
	if d.Empties {
		return 3
	}
	return min(age+1, 3)
}

// leaderOf is who stands for a sender of a kind, the one in place e, for receivers of an age.
func (l *Layout) leaderOf(e int32, kind, age int) int32 {
	return l.Ages[age-kind].leader[l.Row(l.Senders.Rows[e], kind)]
}

// sameMessages tells whether two rows of an age hear the same relations from senders of a kind
// that are alike, or of which nothing but the relation is heard, in the same order: sums then have
// the same bits.
func (l *Layout) sameMessages(i, j int32, kind, age int) bool {
	bounds, relations := l.Senders.Bounds[kind:], l.Senders.Relations
	first, other := bounds[3*i], bounds[3*j]
	count := bounds[3*i+1] - first
	if bounds[3*j+1]-other != count {
		return false
	}
	for e := range count {
		if relations[first+e] != relations[other+e] ||
			kind <= age && l.leaderOf(first+e, kind, age) != l.leaderOf(other+e, kind, age) {
			return false
		}
	}
	return true
}
