package budget_test

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"tagnet/model/budget"
	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// TestEstimateBoundsWhatIsHeld scores and trains on a random graph that sources reach all of, and compares the live
// heap with the estimate, which is at most so many times as much. It is not parallel: the heap is the process's.
func TestEstimateBoundsWhatIsHeld(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 5))
	facts := make([]graph.Fact, 60_000)
	for i := range facts {
		facts[i] = graph.Fact{Head: int32(random.IntN(6000)), Relation: int32(random.IntN(4)), Tail: int32(random.IntN(6000))}
	}
	g, err := graph.New(6000, 4, facts)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*configuration.Configuration)
		most   float64
	}{
		"window":      {func(*configuration.Configuration) {}, 3},
		"independent": {func(c *configuration.Configuration) { c.Dependent, c.Delta = false, 3 }, 3},
		"sum":         {func(c *configuration.Configuration) { c.Delta, c.Aggregate = 4, configuration.AggregateSum }, 3},
		"transe":      {func(c *configuration.Configuration) { c.Message = configuration.MessageTransE }, 3},
		"specific": {func(c *configuration.Configuration) {
			c.DeltaMode, c.Attention, c.Negatives = configuration.DeltaSpecific, configuration.AttentionOwn, 1024
		}, 3},
		"full": {func(c *configuration.Configuration) { c.Policy = configuration.PolicyFull }, 3},
		"graph": {func(c *configuration.Configuration) {
			c.Relations, c.RelationLayers, c.Aggregate, c.Dropout = configuration.RelationsGraph, 3, configuration.AggregateSum, 0
			c.Policy = configuration.PolicyFull
		}, 7}, // of what makes the graph of relations, too
		"astar": {func(c *configuration.Configuration) { c.Policy = configuration.PolicyAStar }, 5}, // the weights decide how many states there are
		"reach": {func(c *configuration.Configuration) { c.Reach = 500 }, 8},
	} {
		t.Run(name, func(t *testing.T) {
			c := configuration.Default()
			c.Dropout, c.BatchSize = 0.1, 2
			test.change(&c)
			compare(t, g, facts, c, test.most)
		})
	}
}

// compare scores and trains, and holds that estimates are at least what is held beside the graph, and at most that
// many times as much.
func compare(t *testing.T, g *graph.Graph, facts []graph.Fact, c configuration.Configuration, most float64) {
	t.Helper()
	k, err := kernel.Named("")
	if err != nil {
		t.Fatal(err)
	}
	s := budget.Sizes{Entities: int64(g.Entities), Edges: g.Edges(), Relations: int64(g.RelationCount())}
	if s.RelationEdges, err = relations.CountEdges(g, c); err != nil {
		t.Fatal(err)
	}
	check := func(held int64, u budget.Use) {
		e := budget.ForModel(s, c, u)
		estimate := e.Held + e.Thread
		t.Logf("%+v: %.1f MiB held, estimate %.1f", u, float64(held)/(1<<20), float64(estimate)/(1<<20))
		if held > estimate || float64(estimate) > most*float64(held) {
			t.Errorf("%+v: %d bytes are held, the estimate is %d", u, held, estimate)
		}
	}

	before := live()
	layout := parameters.Layout(c, g.RelationCount())
	set := parameters.Initialize(layout, 1)
	scorer, err := inference.New(g, nil, c, set, k)
	if err != nil {
		t.Fatal(err)
	}
	worker := scorer.Worker()
	scores := make([]float32, g.Entities)
	for i := range 8 {
		if err := worker.Scores(t.Context(), facts[i].Head, 0, scores); err != nil {
			t.Fatal(err)
		}
	}
	check(live()-before, budget.Use{})
	runtime.KeepAlive([]any{worker, scores})
	scorer, worker, scores = nil, nil, nil

	before = live() // with the weights
	solver := steps.NewAdam(layout, c.LearningRate, 0, k)
	trainer, err := steps.New(g, nil, c, set, solver, 1, k)
	if err != nil {
		t.Fatal(err)
	}
	for step := range 2 {
		batch := make([]steps.Example, c.BatchSize)
		for i := range batch {
			f := facts[(step*c.BatchSize+i)%len(facts)]
			batch[i] = steps.Example{Query: graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail}, Key: uint64(i)}
		}
		if _, err := trainer.Step(batch, uint64(step)); err != nil {
			t.Fatal(err)
		}
	}
	check(live()-before, budget.Use{Training: true})
	runtime.KeepAlive([]any{trainer, set, facts})
}

// live returns the bytes of the live heap.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools and finalizers kept the first time
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
