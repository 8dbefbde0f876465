package steps

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// joining is a configuration of queries of several answers.
func joining(most int, share float64, batch, perEpoch int) configuration.Configuration {
	return configuration.Configuration{Batching: configuration.BatchingRandom, BatchSize: batch, AnswersPerQuery: most, RemovedShare: share,
		QueriesPerEpoch: perEpoch}
}

// by is a configuration of batches of chunks that share a key.
func by(batching string) configuration.Configuration {
	c := joining(4, .5, 16, 0)
	c.Batching = batching
	return c
}

// setOf returns the training set of some facts.
func setOf(t *testing.T, facts []graph.Fact, baseRelations int) TrainingSet {
	t.Helper()
	g, err := graph.New(60, baseRelations, facts)
	if err != nil {
		t.Fatal(err)
	}
	return TrainingSet{Facts: facts, BaseRelations: int32(baseRelations), Graph: g}
}

// shop returns facts of customers who each bought some items, from one to 9.
func shop() (facts []graph.Fact) {
	for customer := range int32(40) {
		for item := range customer%9 + 1 {
			facts = append(facts, graph.Fact{Head: customer, Relation: customer % 2, Tail: 40 + (7*item+customer)%20})
		}
	}
	return facts
}

// groups counts the answers to each source and relation.
func groups(facts []graph.Fact, baseRelations int32) map[[2]int32]int {
	counts := map[[2]int32]int{}
	for _, f := range facts {
		tail, head := f.Queries(baseRelations)
		counts[[2]int32{tail.Source, tail.Relation}]++
		counts[[2]int32{head.Source, head.Relation}]++
	}
	return counts
}

// TestRoundDrawsEveryQueryOnce draws rounds of queries of several answers: each fact once in each direction, no query
// with more answers, or a larger share of them, than the configuration allows, and most with several.
func TestRoundDrawsEveryQueryOnce(t *testing.T) {
	t.Parallel()
	facts := shop()
	counts := groups(facts, 2)
	for _, c := range []configuration.Configuration{joining(4, .5, 16, 0), joining(4, .5, 3, 0), joining(100, 1, 16, 0), joining(3, .34, 1, 0),
		joining(4, .5, 16, 37), by(configuration.BatchingGrouped), by(configuration.BatchingRelation)} {
		set := setOf(t, facts, 2)
		epochs := 2 * epochsOfRound(len(facts), c)
		for round := range 2 {
			drawn, queries, largest := map[Draw]int{}, 0, 0
			for epoch := range epochs {
				answers := 0
				for _, batch := range Schedule(set.Keys(c), c, 3, round*epochs+epoch+1) {
					if len(batch) > c.BatchSize {
						t.Fatalf("%+v: a batch of %d answers", c, len(batch))
					}
					for _, d := range batch {
						d.Joined = false
						drawn[d]++
					}
					answers += len(batch)
					examples, err := set.Examples(batch, 3, epoch, nil)
					if err != nil {
						t.Fatal(err)
					}
					for _, e := range examples {
						all := counts[[2]int32{e.Source, e.Relation}]
						if most := max(1, min(c.AnswersPerQuery, int(c.RemovedShare*float64(all)))); e.Answers() > most {
							t.Fatalf("%+v: a query of %d of %d answers", c, e.Answers(), all)
						}
						queries++
						largest = max(largest, e.Answers())
					}
				}
				if want := FactsPerEpoch(len(facts), c); answers > want || answers < want-1 {
					t.Errorf("%+v: an epoch of %d answers, want %d", c, answers, want)
				}
			}
			for d, n := range drawn {
				if n != 1 {
					t.Fatalf("%+v: %+v is drawn %d times", c, d, n)
				}
			}
			if len(drawn) != 2*len(facts) {
				t.Errorf("%+v: %d queries are drawn, want %d", c, len(drawn), 2*len(facts))
			}
			if c.BatchSize > 3 && (queries > len(drawn)*2/3 || largest < 4) {
				t.Errorf("%+v: %d queries of up to %d answers have %d answers", c, queries, largest, len(drawn))
			}
		}
	}
}

// TestChunksDependOnRoundAndSeed compares schedules of two rounds and of two seeds.
func TestChunksDependOnRoundAndSeed(t *testing.T) {
	t.Parallel()
	c := joining(4, .5, 16, 0)
	k := KeysOf(shop(), c)
	first := Schedule(k, c, 1, 1)
	if diff := cmp.Diff(first, Schedule(KeysOf(shop(), c), c, 1, 1)); diff != "" {
		t.Errorf("the same epoch differs from itself:\n%s", diff)
	}
	if cmp.Equal(first, Schedule(k, c, 1, 3)) {
		t.Error("epochs 1 and 3 are equal")
	}
	if cmp.Equal(first, Schedule(k, c, 2, 1)) {
		t.Error("seeds 1 and 2 are equal")
	}
}

// TestJoinedBatchesShareKeys counts the sources and the relations of batches that are grouped by them.
func TestJoinedBatchesShareKeys(t *testing.T) {
	t.Parallel()
	facts := shop()
	for i := range facts {
		facts[i].Relation = int32(i % 17)
	}
	count := func(batching string, key func(e Example) int32) (keys int) {
		set, c := setOf(t, facts, 17), by(batching)
		for _, batch := range Schedule(set.Keys(c), c, 3, 1) {
			examples, err := set.Examples(batch, 3, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			seen := map[int32]bool{}
			for _, e := range examples {
				seen[key(e)] = true
			}
			keys += len(seen)
		}
		return keys
	}
	source, relation := func(e Example) int32 { return e.Source }, func(e Example) int32 { return e.Relation % 17 }
	if some, all := count(configuration.BatchingGrouped, source), count(configuration.BatchingRandom, source); some > all/2 {
		t.Errorf("grouped batches have %d sources, random ones %d", some, all)
	}
	if some, all := count(configuration.BatchingRelation, relation), count(configuration.BatchingRandom, relation); some > all/2 {
		t.Errorf("batches by relation have %d relations, random ones %d", some, all)
	}
}

// TestJoinedAnswersKeepTheirKeys compares a query of several answers with the queries of its facts.
func TestJoinedAnswersKeepTheirKeys(t *testing.T) {
	t.Parallel()
	set := setOf(t, []graph.Fact{{Head: 1, Relation: 0, Tail: 9}, {Head: 1, Relation: 0, Tail: 5}, {Head: 1, Relation: 0, Tail: 7},
		{Head: 2, Relation: 1, Tail: 1}}, 2)
	batch := []Draw{{Fact: 3, Inverse: true}, {Fact: 0}, {Fact: 1, Joined: true}, {Fact: 2, Joined: true}}
	got, err := set.Examples(batch, 6, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []Example
	for _, d := range batch {
		want = append(want, d.Example(set.Facts, 2, 6, 2))
	}
	if len(got) != 2 || got[1].Answers() != 3 || got[1].Answer != 5 || !slices.Equal(got[1].OtherAnswers(), []int32{7, 9}) {
		t.Fatalf("examples %+v", got)
	}
	for i, one := range []Example{got[0], got[1].alone(2), got[1].alone(0), got[1].alone(1)} {
		if one.Query != want[i].Query || one.Key != want[i].Key {
			t.Errorf("answer %d: %+v, want %+v", i, one, want[i])
		}
	}
}
