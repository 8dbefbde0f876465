package answer

import (
	"math/bits"
	"slices"
	"sort"

	"tagnet/model/parallel"
)

// Sample selects the entities among which the answers of a query are ranked: a number of random negatives, or all
// entities if it is 0.
type Sample struct {
	Negatives int
	Seed      uint64
}

// Negatives draws the entities among which an answer of the query is ranked: not the source, the answer or the known
// answers, with repetitions, as in GraIL. There are none if the graph has no other entities. They follow from
// the seed and the ids of source, relation and answer.
func (q Request) Negatives(answer int32, entities int) []int32 {
	excluded := append(slices.Clone(q.Known), q.Source, answer)
	slices.Sort(excluded)
	excluded = slices.Compact(excluded)
	others := uint64(entities - len(excluded))
	drawn := make([]int32, 0, q.Sample.Negatives)
	if others == 0 {
		return drawn
	}
	seed := parallel.Seed(q.Sample.Seed, uint64(q.Source), uint64(q.Relation), uint64(answer))
	for i := range q.Sample.Negatives {
		position, _ := bits.Mul64(parallel.Seed(seed, uint64(i)), others)
		// The entity at that position among the others: its id is larger by the number of excluded entities before it.
		before := sort.Search(len(excluded), func(i int) bool { return uint64(int(excluded[i])-i) > position })
		drawn = append(drawn, int32(int(position)+before))
	}
	return drawn
}
