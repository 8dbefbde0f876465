package bundle

import (
	"fmt"
	"math/bits"
	"slices"
	"sort"

	"tagnet/model/random"
)

// Protocol says which queries an evaluation has, and among which entities their answers are ranked. "" is Test.
type Protocol string

const (
	// Test takes the queries of the split, and ranks each answer among all entities but the other known answers.
	Test Protocol = "test"
	// ValidAndTest takes the queries of the inference graph's validation and test facts together, and ranks as Test does: the
	// protocol of RED-GNN, AdaProp, A*Net and ULTRA in the inductive setting. The split is test.
	ValidAndTest Protocol = "valid-and-test"
	// GraIL takes the queries of the split, and ranks each answer among 50 candidates: itself and random entities that are
	// no known answers. GraIL's paper speaks of 50 negatives; its program, and those that were derived from it, draw 49.
	GraIL Protocol = "grail"
)

// Protocols lists the names of all protocols.
var Protocols = []string{string(Test), string(ValidAndTest), string(GraIL)}

// About describes the protocol in a few words.
func (p Protocol) About() string {
	switch p {
	case ValidAndTest:
		return "validation and test facts of the inference graph, among all entities: RED-GNN, AdaProp, A*Net, ULTRA"
	case GraIL:
		return fmt.Sprintf("test facts, each answer among %d random negatives: GraIL", negatives)
	}
	return "test facts, among all entities"
}

// negatives is how many entities GraIL draws for each answer.
const negatives = 49

// Negatives returns how many random entities an answer is ranked among, or 0 if these are all entities.
func (p Protocol) Negatives() int {
	if p == GraIL {
		return negatives
	}
	return 0
}

// Sample says among which entities the answers of a query are ranked: that number of random negatives, or all entities if it
// is 0.
type Sample struct {
	Negatives int
	Seed      uint64
}

// Negatives draws the entities among which an answer of the query is ranked: other ones than the source, the answer and the
// known answers, with repetitions, as GraIL draws them. There are none if the graph has no other entities. They follow from
// the seed and the ids of source, relation and answer.
func (q Query) Negatives(answer int32, entities int) []int32 {
	excluded := append(slices.Clone(q.Known), q.Source, answer)
	slices.Sort(excluded)
	excluded = slices.Compact(excluded)
	others := uint64(entities - len(excluded))
	drawn := make([]int32, 0, q.Sample.Negatives)
	if others == 0 {
		return drawn
	}
	seed := random.Seed(q.Sample.Seed, uint64(q.Source), uint64(q.Relation), uint64(answer))
	for i := range q.Sample.Negatives {
		position, _ := bits.Mul64(random.Seed(seed, uint64(i)), others)
		// The entity at that position among the others: its id is larger by the number of excluded ones before it.
		before := sort.Search(len(excluded), func(i int) bool { return uint64(int(excluded[i])-i) > position })
		drawn = append(drawn, int32(int(position)+before))
	}
	return drawn
}
