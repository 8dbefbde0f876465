package answer_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/hop"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/configuration"
)

// someTriples returns facts of a graph, one of them a loop, and triples that it does not have, numbered in this order.
func someTriples(g *graph.Graph, rng *rand.Rand) (triples []answer.Triple) {
	add := func(f graph.Fact) {
		triples = append(triples, answer.Triple{Number: int64(len(triples)), Fact: f})
	}
	for range 12 {
		tail := int32(rng.IntN(g.Entities))
		if senders, relations := g.In(tail); len(senders) > 0 {
			if i := rng.IntN(len(senders)); int(relations[i]) < g.BaseRelations {
				add(graph.Fact{Head: senders[i], Relation: relations[i], Tail: tail})
			}
		}
		add(graph.Fact{Head: tail, Relation: int32(rng.IntN(g.BaseRelations)), Tail: int32(rng.IntN(g.Entities))})
	}
	add(graph.Fact{Head: 1, Relation: 0, Tail: 1})
	add(graph.Fact{Head: 2, Relation: 0, Tail: 2})
	return triples
}

// scored scores triples by some workers.
func scored(t *testing.T, g *graph.Graph, s *inference.Scorer, known func(source, relation int32) []int32, triples []answer.Triple,
	workers int) []answer.Observed {
	t.Helper()
	pool := answer.NewPool(g.Entities, g.RelationCount(), workers, s.Group, func() answer.Worker { return s.Worker() })
	ranked, err := pool.Rank(t.Context(), answer.TripleRequests(g, known, triples), ranking.Selection{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return ranked.Observed()
}

// TestScoresOfTriplesAreThoseOfTheReference compares scores, ranks and distances with the float64 specification, which
// removes the edges of facts.
func TestScoresOfTriplesAreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	facts, unreached := 0, 0
	for seed := range uint64(16) {
		rng := rand.New(rand.NewPCG(seed, 1))
		c := configuration.Default()
		c.Layers, c.Dim, c.Delta = 3, 8, rng.IntN(3)
		c.Policy = []string{configuration.PolicyWindow, configuration.PolicyFull, configuration.PolicyAStar, configuration.PolicyWindow}[seed%4]
		c.Remove = []string{configuration.RemoveTriple, configuration.RemoveOneHop, configuration.RemoveNone}[seed%3]
		g := withLoop(t, rng)
		set, rounded := golden.RandomWeights(rng, c, g.RelationCount())
		reference, err := spec.New(g, c, set)
		if err != nil {
			t.Fatal(err)
		}
		known := func(source, relation int32) (list []int32) {
			for o := range int32(g.Entities) {
				if g.Has(source, relation, o) {
					list = append(list, o)
				}
			}
			return list
		}
		s, err := inference.New(g, nil, c, rounded, kernel.Available()[0])
		if err != nil {
			t.Fatal(err)
		}
		triples := someTriples(g, rng)
		for i, got := range scored(t, g, s, known, triples, 2) {
			f := triples[i].Fact
			if got.Number != triples[i].Number || got.Fact != f {
				t.Fatalf("result %d is %+v, want that of %+v", i, got, triples[i])
			}
			for name, side := range map[string]struct {
				source, relation, answer int32
				got                      probability.Side
			}{"tail": {f.Head, f.Relation, f.Tail, got.Tails}, "head": {f.Tail, g.Inverse(f.Relation), f.Head, got.Heads}} {
				q := spec.Query{Query: graph.Query{Source: side.source, Relation: side.relation, Answer: side.answer}}
				if g.Has(f.Head, f.Relation, f.Tail) {
					facts++
					q.Removal = graph.RemoveFact
				}
				pass := reference.Forward(q)
				what := fmt.Sprintf("seed %d, %s of %+v", seed, name, f)
				if err := golden.Compare(what, []float32{side.got.Score}, pass.Scores[side.answer:side.answer+1], 1e-3); err != nil {
					t.Error(err)
				}
				checkRank(t, what, side.got, pass.Scores, known(side.source, side.relation), side.answer)
				distance := int32(pass.Distances[side.answer])
				if distance == hop.Unreached {
					distance = hop.Column
					unreached++
				}
				if got.Hops != distance {
					t.Errorf("%s: %d hops, want %d", what, got.Hops, distance)
				}
			}
		}
	}
	if facts < 100 || unreached < 10 {
		t.Errorf("%d facts and %d unreached answers were compared: the comparison says little", facts, unreached)
	}
}

// withLoop returns a random graph with the fact (1, 0, 1).
func withLoop(t *testing.T, rng *rand.Rand) *graph.Graph {
	t.Helper()
	const entities, relations = 30, 2
	facts := []graph.Fact{{Head: 1, Relation: 0, Tail: 1}, {Head: 1, Relation: 1, Tail: 2}, {Head: 2, Relation: 0, Tail: 1}}
	for range 35 {
		facts = append(facts, graph.Fact{Head: int32(rng.IntN(entities - 3)), Relation: int32(rng.IntN(relations)), Tail: int32(rng.IntN(entities - 3))})
	}
	g, err := graph.New(entities, relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// checkRank checks a filtered pessimistic rank by float64 scores: those that differ from the answer's by rounding may
// count or not.
func checkRank(t *testing.T, what string, got probability.Side, scores []float64, known []int32, answer int32) {
	t.Helper()
	least, most := int64(1), int64(1)
	for o, score := range scores {
		if _, is := slices.BinarySearch(known, int32(o)); is || int32(o) == answer {
			continue
		}
		near := 1e-3 * (1 + math.Abs(scores[answer]))
		if score > scores[answer]+near {
			least++
		}
		if score > scores[answer]-near {
			most++
		}
	}
	if got.Rank < least || got.Rank > most {
		t.Errorf("%s: rank %d, want %d to %d", what, got.Rank, least, most)
	}
}

// TestCompanyOfTriplesChangesNothing compares what triples get together, in any order and by several workers, with what
// each gets alone.
func TestCompanyOfTriplesChangesNothing(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(4, 2))
	g, c := withLoop(t, rng), configuration.Default()
	c.Layers, c.Dim = 3, 32
	_, rounded := golden.RandomWeights(rng, c, g.RelationCount())
	known := func(int32, int32) []int32 { return nil }
	all := kernel.Available()
	s, err := inference.New(g, nil, c, rounded, all[len(all)-1])
	if err != nil {
		t.Fatal(err)
	}
	triples := someTriples(g, rng)
	var alone []answer.Observed
	for _, one := range triples {
		alone = append(alone, scored(t, g, s, known, []answer.Triple{one}, 1)...)
	}
	for _, workers := range []int{1, 3} {
		rng.Shuffle(len(triples), func(i, j int) { triples[i], triples[j] = triples[j], triples[i] })
		if diff := cmp.Diff(alone, scored(t, g, s, known, triples, workers)); diff != "" {
			t.Errorf("together by %d workers (-alone +together):\n%s", workers, diff)
		}
	}
}

// TestQueriesOfTriplesAreShared has triples of one head and relation: only a fact has a query of its own.
func TestQueriesOfTriplesAreShared(t *testing.T) {
	t.Parallel()
	g := withLoop(t, rand.New(rand.NewPCG(1, 1)))
	isolated := int32(g.Entities - 1)
	var triples []answer.Triple
	for i, tail := range []int32{isolated, 1, isolated - 1} {
		triples = append(triples, answer.Triple{Number: int64(i), Fact: graph.Fact{Head: 2, Relation: 0, Tail: tail}})
	}
	removed, shared := 0, 0
	for _, q := range answer.TripleRequests(g, func(int32, int32) []int32 { return nil }, triples) {
		if q.Removal != graph.RemoveNothing {
			removed++
		}
		if len(q.Rows) == 2 && q.Source == 2 {
			shared++
		}
	}
	if removed != 2 || shared != 1 {
		t.Errorf("%d queries without edges, %d of two triples, want 2 and 1", removed, shared)
	}
}
