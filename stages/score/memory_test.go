package score

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/inference"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
	"tagnet/stages/bundle"
)

// TestMemoryBoundsARanker ranks a bundle on a random graph and compares what is held after it
// with the formula.
func TestMemoryBoundsARanker(t *testing.T) {
	for name, change := range map[string]func(*configuration.Configuration){
		"default":     func(*configuration.Configuration) {},
		"independent": func(c *configuration.Configuration) { c.Dependent, c.Delta = false, 3 },
		"specific": func(c *configuration.Configuration) {
			c.DeltaMode, c.Attention = configuration.DeltaSpecific, configuration.AttentionShared
		},
	} {
		c := configuration.Default()
		change(&c)
		const entities, relations, threads = 4000, 60, 2
		random := rand.New(rand.NewPCG(5, 5))
		facts := make([]graph.Fact, 30000)
		for i := range facts {
			facts[i] = graph.Fact{Head: int32(random.IntN(entities)), Relation: int32(random.IntN(relations)), Tail: int32(random.IntN(entities))}
		}
		g, err := graph.New(entities, relations, facts)
		if err != nil {
			t.Fatal(err)
		}
		k, err := kernel.Named("")
		if err != nil {
			t.Fatal(err)
		}
		set := parameters.Initialize(parameters.Layout(c, g.RelationCount()), 1)
		b := twoQuestionsEach(t, g, 12)
		before := live()
		scorer, err := inference.New(g, c, set, k)
		if err != nil {
			t.Fatal(err)
		}
		workers := []Worker{scorer.Worker(), scorer.Worker()}
		ranker, err := NewRanker(entities, g.RelationCount(), 10, workers)
		if err != nil {
			t.Fatal(err)
		}
		// Each has its turn: together it is left to chance who takes what.
		for _, s := range ranker.seats {
			alone := &Ranker{entities: entities, relations: g.RelationCount(), best: 10, seats: []*seat{s}}
			if _, err := alone.Rank(context.Background(), b, nil); err != nil {
				t.Fatal(err)
			}
		}
		held := live() - before
		shared, thread := Memory(g, c, 10)
		if bound := shared + threads*thread; held > bound || bound > 2*held {
			t.Errorf("%s: %d bytes are held, the formula says %d", name, held, bound)
		}
		runtime.KeepAlive(ranker)
		runtime.KeepAlive(b)
	}
}

// twoQuestionsEach is a bundle with two questions about each of some sources.
func twoQuestionsEach(t *testing.T, g *graph.Graph, sources int) *bundle.Bundle {
	t.Helper()
	var queries []bundle.Query
	for source := range int32(sources) {
		for relation := range int32(2) {
			queries = append(queries, bundle.Query{Number: int64(len(queries)), Source: source, Relation: relation, Answer: source + 1})
		}
	}
	builder, err := bundle.NewBuilder(context.Background(), g, func(int32, int32) []int32 { return nil }, "", configuration.Default().Layers, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer builder.Close()
	b, err := builder.Build(context.Background(), 0, bundle.Units(queries))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
