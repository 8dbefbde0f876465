package inference_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/internal/spec"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/configuration"
)

// TestScoresWithinReach compares the scores of all entities within a reach with the specification's, among them those
// outside, for each policy, relation source and kind of final state, in the whole graph and without some edges; and
// queries after one another and by different workers with each other, bit for bit.
func TestScoresWithinReach(t *testing.T) {
	t.Parallel()
	outside := 0
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 31))
		g := golden.RandomGraph(t, rng, 40+rng.IntN(40), 3, 90+rng.IntN(60))
		c := configuration.Default()
		c.Layers, c.Delta, c.Dim, c.Reach = 2+rng.IntN(3), rng.IntN(4), 8, 5+rng.IntN(60)
		switch seed % 6 {
		case 0:
			c.Policy = configuration.PolicyFull
		case 1:
			c.Policy, c.Dependent = configuration.PolicyFull, false
		case 2:
			c.Policy, c.Aggregate, c.Relations, c.RelationLayers = configuration.PolicyFull, configuration.AggregateSum, configuration.RelationsGraph, 2
		case 3:
			c.DeltaMode, c.Attention, c.DegreeMessages = configuration.DeltaSpecific, configuration.AttentionOwn, true
		case 4:
			c.Relations, c.RelationLayers = configuration.RelationsGraph, 2
		}
		set, rounded := golden.RandomWeights(rng, c, g.RelationCount())
		m, err := spec.New(g, c, set)
		if err != nil {
			t.Fatal(err)
		}
		k := kernel.Available()[int(seed)%len(kernel.Available())]
		scorer, err := inference.New(g, nil, c, rounded, k)
		if err != nil {
			t.Fatal(err)
		}
		worker, other := scorer.Worker(), scorer.Worker()
		for range 3 {
			q, relations := graph.Query{Source: int32(rng.IntN(g.Entities))}, []int32{0, 2, 5}
			if senders, of := g.In(q.Source); len(senders) > 0 && rng.IntN(2) == 0 {
				q.Answer, q.Removal = senders[0], graph.RemoveFact+graph.Removals(rng.IntN(2))
				if q.Removal == graph.RemoveFact {
					relations = []int32{g.Inverse(of[0])}
				}
			}
			q.Relation = relations[0]
			inside := spec.Inside(g, c.Within(g.Entities), q)
			for _, relation := range relations {
				scores := make([]float32, g.Entities)
				if err := worker.ScoresWithout(t.Context(), q, nil, relation, scores); err != nil {
					t.Fatal(err)
				}
				q := q
				q.Relation = relation
				pass := m.Forward(spec.Query{Query: q, Inside: inside})
				name := fmt.Sprintf("seed %d, %s, (%d, %d, ?)", seed, k.Name(), q.Source, relation)
				if err := golden.Compare(name, scores, pass.Scores, 5e-3); err != nil {
					t.Fatal(err)
				}
				alone := make([]float32, g.Entities)
				if err := other.ScoresWithout(t.Context(), q, nil, relation, alone); err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(alone, scores) {
					t.Fatalf("%s: another worker has other scores", name)
				}
				if got, want := worker.Sent(), other.Sent(); got != want {
					t.Fatalf("%s: %d messages, alone %d", name, got, want)
				}
				for o := range int32(g.Entities) {
					hops, reached := worker.Distance(o)
					if reached && hops != int(pass.Distances[o]) || reached != (pass.Distances[o] <= uint8(c.Layers)) {
						t.Fatalf("%s: entity %d is %d hops away (reached %v), want %d", name, o, hops, reached, pass.Distances[o])
					}
					if inside != nil && !inside[o] {
						outside++
					}
				}
			}
		}
	}
	if outside < 1000 {
		t.Errorf("only %d scores are of entities outside", outside)
	}
}

// TestReachOfAllEntities compares the scores within a reach of all entities with those of none, bit for bit.
func TestReachOfAllEntities(t *testing.T) {
	t.Parallel()
	for _, c := range golden.Cases(t) {
		if c.Configuration.Prioritized() {
			continue
		}
		var scores [2][]float32
		for i, reach := range []int{0, c.Graph.Entities} {
			within := c.Configuration
			within.Reach = reach
			scorer, err := inference.New(c.Graph, nil, within, c.Parameters32(), kernel.Available()[0])
			if err != nil {
				t.Fatal(err)
			}
			scores[i] = make([]float32, c.Graph.Entities)
			if err := scorer.Worker().Scores(t.Context(), 1, 0, scores[i]); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(scores[0], scores[1]) {
			t.Errorf("%s: a reach of all entities changes scores", c.Name)
		}
	}
}
