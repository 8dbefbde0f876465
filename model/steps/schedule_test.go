package steps

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// hub returns facts, a third of them of one entity.
func hub(facts int) []graph.Fact {
	list := make([]graph.Fact, facts)
	for i := range list {
		list[i] = graph.Fact{Head: int32(i % 17), Relation: int32(i % 3), Tail: int32(i * 7 % 23)}
		if i%3 == 0 {
			list[i].Head = 5
		}
	}
	return list
}

func schedules(facts []graph.Fact, batch int, seed uint64, epoch int) map[string][][]Draw {
	all := map[string][][]Draw{}
	for _, batching := range []string{configuration.BatchingRandom, configuration.BatchingGrouped, configuration.BatchingRelation} {
		c := configuration.Configuration{Batching: batching, BatchSize: batch}
		all[batching] = Schedule(KeysOf(facts, c), c, seed, epoch)
	}
	return all
}

func TestEveryFactIsDrawnOnceAnEpoch(t *testing.T) {
	t.Parallel()
	for _, facts := range []int{1, 2, 15, 16, 17, 1000} {
		for _, batch := range []int{1, 3, 16, 2000} {
			for name, batches := range schedules(hub(facts), batch, 1, 1) {
				t.Run(fmt.Sprintf("%s/%d/%d", name, facts, batch), func(t *testing.T) {
					drawn := make([]int, facts)
					for i, b := range batches {
						if len(b) == 0 || len(b) > batch {
							t.Errorf("batch %d holds %d queries, want 1 to %d", i, len(b), batch)
						}
						for _, d := range b {
							drawn[d.Fact]++
						}
					}
					for fact, n := range drawn {
						if n != 1 {
							t.Errorf("fact %d is drawn %d times", fact, n)
						}
					}
				})
			}
		}
	}
}

// TestEpochsOfSomeQueriesDrawEveryFact draws fewer facts an epoch than there are: over each round of epochs every fact
// once, in another order in the next round.
func TestEpochsOfSomeQueriesDrawEveryFact(t *testing.T) {
	t.Parallel()
	for _, batching := range []string{configuration.BatchingRandom, configuration.BatchingGrouped, configuration.BatchingRelation} {
		for _, facts := range []int{1, 16, 100, 1001} {
			for _, queries := range []int{1, 7, 100, 5000} {
				c := configuration.Configuration{Batching: batching, BatchSize: 8, QueriesPerEpoch: queries}
				turns := (facts + queries - 1) / queries
				var first [2][]Draw // epochs of two rounds
				for round := range 2 {
					drawn := make([]int, facts)
					for turn := range turns {
						count := 0
						for _, batch := range Schedule(KeysOf(hub(facts), c), c, 3, round*turns+turn+1) {
							if turn == 0 {
								first[round] = append(first[round], batch...)
							}
							for _, d := range batch {
								drawn[d.Fact]++
								count++
							}
						}
						if count > min(queries, facts) || count < min(queries, facts)/2 || count > FactsPerEpoch(facts, c) ||
							count < FactsPerEpoch(facts, c)-1 {
							t.Errorf("%s: an epoch of at most %d of %d facts draws %d, about %d are announced", batching, queries, facts, count,
								FactsPerEpoch(facts, c))
						}
					}
					for fact, n := range drawn {
						if n != 1 {
							t.Fatalf("%s: fact %d of %d is drawn %d times in round %d of %d queries an epoch", batching, fact, facts, n, round, queries)
						}
					}
				}
				if facts > 99 && cmp.Equal(first[0], first[1]) {
					t.Errorf("%s, %d facts, %d queries: two rounds begin with the same epoch", batching, facts, queries)
				}
			}
		}
	}
}

func TestRandomBatchAsksForTailsThenHeads(t *testing.T) {
	t.Parallel()
	for _, b := range randomSchedule(shuffled(101, 3), 16) {
		for i, d := range b {
			if d.Inverse != (i >= len(b)/2) {
				t.Fatalf("query %d of %d asks for the head: %v", i, len(b), d.Inverse)
			}
		}
	}
}

func TestGroupedBatchHoldsWholeSources(t *testing.T) {
	t.Parallel()
	facts := hub(1000)
	source := func(d Draw) int32 {
		if d.Inverse {
			return facts[d.Fact].Tail
		}
		return facts[d.Fact].Head
	}
	pieces, inverse := 0, 0
	for _, b := range schedules(facts, 64, 3, 2)[configuration.BatchingGrouped] {
		for i, d := range b {
			if i == 0 || source(d) != source(b[i-1]) {
				pieces++
			}
			if d.Inverse {
				inverse++
			}
		}
	}
	// 23 sources, the largest of them split at 64.
	if pieces > 23+1000/64+2 {
		t.Errorf("sources stand in %d pieces", pieces)
	}
	if inverse < 400 || inverse > 600 {
		t.Errorf("%d of 1000 queries ask for the head, want about half", inverse)
	}
}

func TestScheduleDependsOnSeedAndEpochAlone(t *testing.T) {
	t.Parallel()
	facts := hub(200)
	for name, first := range schedules(facts, 16, 1, 1) {
		if diff := cmp.Diff(first, schedules(facts, 16, 1, 1)[name]); diff != "" {
			t.Errorf("%s: the same epoch differs from itself:\n%s", name, diff)
		}
		if cmp.Equal(first, schedules(facts, 16, 1, 2)[name]) {
			t.Errorf("%s: epochs 1 and 2 are equal", name)
		}
		if cmp.Equal(first, schedules(facts, 16, 2, 1)[name]) {
			t.Errorf("%s: seeds 1 and 2 are equal", name)
		}
	}
}

func TestShuffledIsFair(t *testing.T) {
	t.Parallel()
	var counts [4][4]int
	for seed := range uint64(8000) {
		for place, value := range shuffled(4, seed) {
			counts[place][value]++
		}
	}
	for place, row := range counts {
		for value, n := range row {
			if n < 1800 || n > 2200 { // 2000 expected, deviation 39
				t.Errorf("%d stands at %d in %d of 8000 shuffles, want about 2000", value, place, n)
			}
		}
	}
}

func TestBatchOfRelationsHoldsGroups(t *testing.T) {
	t.Parallel()
	facts := make([]graph.Fact, 4000)
	for i := range facts {
		facts[i] = graph.Fact{Head: int32(i), Relation: int32(i % 50), Tail: int32(i + 1)}
	}
	most := 0
	for _, b := range schedules(facts, 16, 3, 2)[configuration.BatchingRelation] {
		asked := map[int32]int{}
		for _, d := range b {
			asked[facts[d.Fact].Relation]++
		}
		most = max(most, len(asked))
		for relation, n := range asked {
			if n%4 != 0 {
				t.Fatalf("a batch asks relation %d %d times, want groups of 4: %v", relation, n, b)
			}
		}
	}
	if most != 4 {
		t.Errorf("batches ask up to %d relations, want 4", most)
	}
}
