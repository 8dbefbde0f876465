package window

import (
	"math"

	"tagnet/model/parallel"
)

// Equivalence divides the rows that have a state of one age into representatives, whose states are
// computed, and duplicates, whose states are copies. The package documentation has an example.
type Equivalence struct {
	// Representatives are in ascending order, and so grouped by level.
	Representatives []int32
	// Duplicates are grouped by level.
	Duplicates []Duplicate
	// RepresentativeLevels and DuplicateLevels have the first of each level, and the number of all
	// after the last, [hops+2].
	RepresentativeLevels, DuplicateLevels []int32

	representative []int32 // of each row, itself unless the row is a duplicate, [n]
	shared         []bool  // by row: its state has other rows, [n]
}

// Duplicate is a row whose state equals the state of row Of.
type Duplicate struct{ Row, Of int32 }

// Criteria select what else, beside messages and degrees, makes states differ.
type Criteria struct {
	// Empties compares empty messages too: TransE's hold the relation's embedding.
	Empties bool
	// Admitted compares the numbers of admitted senders: a degree message stands for each of the others.
	Admitted bool
	// Needed compares only the states that FillFor found to be needed. All others are neither
	// representatives nor duplicates.
	Needed bool
}

// maxCompared is the largest number of messages of a row that is compared with others. Hardly any two
// rows with more are equivalent, and most that are have one message.
const maxCompared = 4

// FindEquivalent fills Ages for the last Fill, unless it has done so already.
func (l *Layout) FindEquivalent(criteria Criteria) {
	if l.compared {
		return
	}
	l.compared = true
	ages := min(l.delta, l.hops) + 1
	l.startAges(ages)
	for layer := 1; layer <= l.hops; layer++ {
		for age := 0; age < min(ages, layer+1); age++ {
			l.divide(age, layer-age, criteria)
		}
	}
}

// startAges empties Ages. Level 0 has no rows at age 0: no layer computes the source's first state.
func (l *Layout) startAges(ages int) {
	for len(l.equivalences) < ages {
		l.equivalences = append(l.equivalences, Equivalence{})
	}
	l.Ages = l.equivalences[:ages]
	for age := range l.Ages {
		a := &l.Ages[age]
		a.Representatives, a.Duplicates = a.Representatives[:0], a.Duplicates[:0]
		a.RepresentativeLevels, a.DuplicateLevels = append(a.RepresentativeLevels[:0], 0), append(a.DuplicateLevels[:0], 0)
		a.representative = parallel.Extend(a.representative, l.Count())
		a.shared = parallel.Extend(a.shared, l.Count())
		clear(a.shared)
	}
	first := &l.Ages[0]
	first.representative[0] = 0
	first.RepresentativeLevels, first.DuplicateLevels = append(first.RepresentativeLevels, 0), append(first.DuplicateLevels, 0)
}

// divide divides the rows of a level into representatives and duplicates at an age.
func (l *Layout) divide(age, level int, criteria Criteria) {
	a, rows := &l.Ages[age], l.Level(level)
	// Each row is its own representative at first.
	copy(a.representative[l.Levels[level]:], rows)
	if criteria.Needed {
		rows = l.neededRows(age, rows)
	}
	candidates := l.comparable(age, rows)
	slots := l.emptySlots(len(candidates))
	last := uint64(len(slots) - 1)
	listed := 0
	for _, j := range candidates {
		i := rows[j]
		hash := l.hash(i, age, criteria)
		if hash == incomparable {
			continue
		}
		// An open hash table, whose slots hold half a hash and a row.
		slot := hash & last
		for slots[slot] != 0 && !(slots[slot]>>32 == hash>>32 && l.equivalent(int32(slots[slot]), i, age, criteria)) {
			slot = (slot + 1) & last
		}
		if slots[slot] == 0 {
			slots[slot] = hash&^math.MaxUint32 | uint64(i)
			continue
		}
		// A duplicate splits the list of representatives.
		other := int32(slots[slot])
		a.representative[i], a.shared[i], a.shared[other] = other, true, true
		a.Duplicates = append(a.Duplicates, Duplicate{i, other})
		a.Representatives = append(a.Representatives, rows[listed:j]...)
		listed = int(j) + 1
	}
	a.Representatives = append(a.Representatives, rows[listed:]...)
	a.RepresentativeLevels = append(a.RepresentativeLevels, int32(len(a.Representatives)))
	a.DuplicateLevels = append(a.DuplicateLevels, int32(len(a.Duplicates)))
}

// neededRows returns the rows of a level whose state of an age is needed.
func (l *Layout) neededRows(age int, rows []int32) []int32 {
	l.neededOf = l.neededOf[:0]
	for _, i := range rows {
		if int(l.Needed[i]) > age {
			l.neededOf = append(l.neededOf, i)
		}
	}
	return l.neededOf
}

// comparable returns the indices of rows of a level that may be equivalent to another at an age: at
// age 0 rows with few parents, later rows that were equivalent to another at the age before.
func (l *Layout) comparable(age int, rows []int32) []int32 {
	l.candidates = parallel.Extend(l.candidates, len(rows))
	// Every row is written and overwritten by the next unless it qualifies, so that no branch can be mispredicted.
	out, n := l.candidates[:len(rows)], 0
	if age > 0 {
		shared := l.Ages[age-1].shared
		for j, i := range rows {
			out[n] = int32(j)
			if shared[i] {
				n++
			}
		}
		return out[:n]
	}
	bounds := l.Senders.Offsets
	for j, i := range rows {
		out[n] = int32(j)
		if bounds[3*i+1]-bounds[3*i] <= maxCompared {
			n++
		}
	}
	return out[:n]
}

// emptySlots returns an empty hash table for a number of rows. A slot in use holds the upper half
// of a hash and a row; it is not 0.
func (l *Layout) emptySlots(rows int) []uint64 {
	size := 16
	for size < 2*rows {
		size *= 2
	}
	l.slots = parallel.Cleared(l.slots, size)
	return l.slots
}

// incomparable is the hash of a row with more than maxCompared messages.
const incomparable = 0

// hash combines all that equivalent compares, except the number of admitted senders, of which there
// are few. If more were left out, the rows of a large level that differ in it would all be compared
// with one another.
func (l *Layout) hash(i int32, age int, criteria Criteria) uint64 {
	hash := uint64(l.Degrees[i])
	if age > 0 {
		hash |= uint64(l.Ages[age-1].representative[i]) << 32
	}
	hash = parallel.Mix(hash)
	kinds := kindsHeard(age, criteria)
	if begin, end := l.Senders.Range(i, kinds); end-begin > maxCompared {
		return incomparable
	}
	for k := range kinds {
		first, end := l.Senders.Offsets[3*i+int32(k)], l.Senders.Offsets[3*i+int32(k)+1]
		for e := first; e < end; e++ {
			message := uint64(l.Senders.Relations[e])
			if k <= age {
				message |= uint64(l.senderClass(e, k, age)) << 32
			}
			hash = parallel.Mix(hash ^ message)
		}
	}
	return hash | 1<<63 // never incomparable
}

// equivalent reports whether two rows of a level, equivalent at the age before, are so at an age.
func (l *Layout) equivalent(i, j int32, age int, criteria Criteria) bool {
	if l.Degrees[i] != l.Degrees[j] || age > 0 && l.Ages[age-1].representative[i] != l.Ages[age-1].representative[j] {
		return false
	}
	if criteria.Admitted && l.Admitted(i) != l.Admitted(j) {
		return false
	}
	for k := range kindsHeard(age, criteria) {
		if !l.sameMessages(i, j, k, age) {
			return false
		}
	}
	return true
}

// kindsHeard returns how many kinds of senders an entity of an age has messages from.
func kindsHeard(age int, criteria Criteria) int {
	if criteria.Empties {
		return 3
	}
	return min(age+1, 3)
}

// senderClass returns the representative of the sender at index e of Senders, of a kind, for
// receivers of an age.
func (l *Layout) senderClass(e int32, kind, age int) int32 {
	return l.Ages[age-kind].representative[l.SenderRow(l.Senders.Rows[e], kind)]
}

// sameMessages reports whether two rows of an age have equal messages from senders of a kind: along
// the same relations, from equivalent senders, or from senders not reached yet. The order must be the
// same too, so that sums have the same bits.
func (l *Layout) sameMessages(i, j int32, kind, age int) bool {
	bounds, relations := l.Senders.Offsets[kind:], l.Senders.Relations
	first, other := bounds[3*i], bounds[3*j]
	count := bounds[3*i+1] - first
	if bounds[3*j+1]-other != count {
		return false
	}
	for e := range count {
		if relations[first+e] != relations[other+e] ||
			kind <= age && l.senderClass(first+e, kind, age) != l.senderClass(other+e, kind, age) {
			return false
		}
	}
	return true
}
