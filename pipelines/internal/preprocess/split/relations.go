package split

import (
	"cmp"
	"slices"

	"tagnet/model/parallel"
)

const (
	// nearShare is the least share of the smaller relation's facts that another has, too, for the two to give away each
	// other's facts. Of few facts it may be chance: fewer than leastNear count only as the share of the larger one.
	nearShare, leastNear = 0.8, 10
	// maxSample is the number of pairs of entities that are compared.
	maxSample = 1 << 18
	// maxPerPair is the largest number of relations between two entities that are compared.
	maxPerPair = 64
)

// sample holds the relations of pairs of entities whose hash is below a limit. The limit falls as pairs are
// found, so that the sample depends on the facts alone.
type sample struct {
	limit uint64
	pairs map[uint64][]directed
}

// directed is twice the id of a relation, plus 1 if the fact leads from the greater name to the lesser one.
type directed int32

func newSample() *sample { return &sample{limit: ^uint64(0), pairs: map[uint64][]directed{}} }

// add adds a fact. A fact of an entity with itself says nothing about directions.
func (s *sample) add(f fact) {
	key := parallel.Mix(f.pair)
	if f.head == f.tail || key > s.limit {
		return
	}
	d := directed(2 * f.relation)
	if f.backwards {
		d++
	}
	if list := s.pairs[key]; !slices.Contains(list, d) {
		s.pairs[key] = append(list, d)
	}
	for len(s.pairs) > maxSample {
		s.limit /= 2
		for key := range s.pairs {
			if key > s.limit {
				delete(s.pairs, key)
			}
		}
	}
}

func (s *sample) whole() bool { return s.limit == ^uint64(0) }

// nearPairs returns the pairs of relations that give away each other's facts, in the order of their ids.
func (s *sample) nearPairs() []nearPair {
	sizes, common := map[int32]int64{}, map[idPair]int64{}
	for _, list := range s.pairs {
		if len(list) > maxPerPair {
			continue
		}
		for i, d := range list {
			sizes[int32(d/2)]++
			for _, other := range list[:i] {
				a, b := min(d/2, other/2), max(d/2, other/2)
				common[idPair{int32(a), int32(b), d%2 != other%2}]++
			}
		}
	}
	var found []nearPair
	for p, n := range common {
		of := min(sizes[p.a], sizes[p.b])
		if of < leastNear {
			of = max(sizes[p.a], sizes[p.b])
		}
		if p.a == p.b {
			n *= 2 // both facts of the pair are the relation's
		}
		if share := float64(n) / float64(of); share >= nearShare {
			found = append(found, nearPair{p, share})
		}
	}
	slices.SortFunc(found, func(p, q nearPair) int {
		return cmp.Or(cmp.Compare(p.a, q.a), cmp.Compare(p.b, q.b), cmp.Compare(p.direction(), q.direction()))
	})
	return found
}

// idPair is a counts.Pair by ids, with a <= b.
type idPair struct {
	a, b    int32
	inverse bool
}

// direction is 1 if one relation is near the inverse of the other, else 0: two relations may be both.
func (p idPair) direction() int {
	if p.inverse {
		return 1
	}
	return 0
}

// nearPair is a pair of relations and the share of facts that one gives away of the other.
type nearPair struct {
	idPair
	share float64
}

// clusters gives relations that give away each other's facts, directly or by others, the same number: the least id
// among them. Others have -1.
func clusters(relations int, pairs []nearPair) []int32 {
	numbers := slices.Repeat([]int32{-1}, relations) // each leads to a lesser id of the cluster, the least one to itself
	least := func(id int32) int32 {
		for numbers[id] != id {
			numbers[id] = numbers[numbers[id]] // so that the way gets shorter
			id = numbers[id]
		}
		return id
	}
	for _, p := range pairs {
		for _, id := range []int32{p.a, p.b} {
			if numbers[id] < 0 {
				numbers[id] = id
			}
		}
		a, b := least(p.a), least(p.b)
		numbers[max(a, b)] = min(a, b)
	}
	for id, number := range numbers {
		if number >= 0 {
			numbers[id] = least(number)
		}
	}
	return numbers
}
