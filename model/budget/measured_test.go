package budget_test

import (
	"bufio"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tagnet/model/budget"
	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/learn/optimizer"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// TestEstimatesBoundWhatIsHeld scores and trains with the presets on WN18RR and FB15k-237, and with
// other configurations on a random graph, and compares the live heap with the estimates. It is not
// parallel: the heap is the process's.
func TestEstimatesBoundWhatIsHeld(t *testing.T) {
	// On WN18RR a training query needs few of the states that the estimate counts.
	for dataset, most := range map[string]float64{"wn18rr": 3.5, "fb15k-237": 2} {
		t.Run(dataset, func(t *testing.T) {
			g, facts := read(t, filepath.Join("../../../shared/data", dataset, "train.txt"))
			c, err := configuration.Preset(dataset)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, g, facts, c, most)
			within := c
			within.Reach = 1000
			compare(t, g, facts, within, 8)
			if dataset == "wn18rr" {
				c.Policy = configuration.PolicyFull
				compare(t, g, facts, c, most)
			}
		})
	}
	random := rand.New(rand.NewPCG(5, 5))
	facts := make([]graph.Fact, 15_000)
	for i := range facts {
		facts[i] = graph.Fact{Head: int32(random.IntN(3000)), Relation: int32(random.IntN(40)), Tail: int32(random.IntN(3000))}
	}
	g, err := graph.New(3000, 40, facts)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*configuration.Configuration){
		"independent": func(c *configuration.Configuration) { c.Dependent, c.Delta = false, 3 },
		"sum":         func(c *configuration.Configuration) { c.Delta, c.Aggregate = 4, configuration.AggregateSum },
		"transe":      func(c *configuration.Configuration) { c.Message = configuration.MessageTransE },
		"specific": func(c *configuration.Configuration) {
			c.DeltaMode, c.Attention, c.Negatives = configuration.DeltaSpecific, configuration.AttentionOwn, 1024
		},
		"full": func(c *configuration.Configuration) { c.Policy = configuration.PolicyFull },
		"full, independent": func(c *configuration.Configuration) {
			c.Policy, c.Dependent, c.Dropout = configuration.PolicyFull, false, 0
		},
		"graph": func(c *configuration.Configuration) {
			c.Relations, c.RelationLayers, c.Aggregate, c.Dropout = configuration.RelationsGraph, 3, configuration.AggregateSum, 0
		},
		"graph, full": func(c *configuration.Configuration) {
			c.Relations, c.RelationLayers, c.Aggregate, c.Dropout = configuration.RelationsGraph, 3, configuration.AggregateSum, 0
			c.Policy = configuration.PolicyFull
		},
		"astar":           func(c *configuration.Configuration) { c.Policy = configuration.PolicyAStar },
		"astar in window": func(c *configuration.Configuration) { c.Policy = configuration.PolicyWindowWithAStar },
	} {
		t.Run(name, func(t *testing.T) {
			c := configuration.Default()
			c.Dropout, c.BatchSize = 0.1, 8
			change(&c)
			most := 2.0
			if c.Prioritized() {
				most = 5 // the weights decide how many states there are
			}
			compare(t, g, facts, c, most)
		})
	}
}

// compare scores and trains, and holds that estimates are at least what is held, and at most that
// many times as much.
func compare(t *testing.T, g *graph.Graph, facts []graph.Fact, c configuration.Configuration, most float64) {
	t.Helper()
	k, err := kernel.Named("")
	if err != nil {
		t.Fatal(err)
	}
	layout := parameters.Layout(c, g.RelationCount())
	set := parameters.Initialize(layout, 1)
	s := budget.Sizes{Entities: int64(g.Entities), Edges: g.Edges(), Relations: int64(g.RelationCount())}
	if c.Source() == configuration.RelationsGraph {
		s.RelationEdges = relations.CountEdges(g, 1<<20)
	}
	weights := int64(0)
	for _, tensor := range set.Tensors {
		weights += 4 * int64(len(tensor.Data))
	}
	check := func(what string, held, estimate int64) {
		t.Logf("%s: %.1f MiB held, estimate %.1f", what, float64(held)/(1<<20), float64(estimate)/(1<<20))
		if held > estimate || float64(estimate) > most*float64(held) {
			t.Errorf("%s: %d bytes are held, the estimate is %d", what, held, estimate)
		}
	}

	// The facts of entities that reach the most.
	central := slices.Clone(facts)
	slices.SortStableFunc(central, func(a, b graph.Fact) int { return g.Degree(b.Head) - g.Degree(a.Head) })
	before := live()
	scorer, err := inference.New(g, nil, c, set, k)
	if err != nil {
		t.Fatal(err)
	}
	worker := scorer.Worker()
	scores := [][]float32{make([]float32, g.Entities), make([]float32, g.Entities)}
	for i := range 8 {
		if err := worker.Scores(t.Context(), central[i].Head, []int32{0, 1}, scores); err != nil {
			t.Fatal(err)
		}
	}
	e := budget.Score(s, c, 10, 1<<17)
	check("scoring", live()-before, row(e, "parameters")-2*weights+e.Thread)
	runtime.KeepAlive(worker)
	runtime.KeepAlive(scores)
	scorer, worker, scores = nil, nil, nil

	before = live()
	solver := optimizer.NewAdam(layout, c.LearningRate, 0, k)
	trainer, err := optimizer.New(g, nil, c, set, solver, 1, k)
	if err != nil {
		t.Fatal(err)
	}
	for step := range 2 {
		batch := make([]optimizer.Example, c.BatchSize)
		for i := range batch {
			f := central[(step*c.BatchSize+i)%len(central)]
			batch[i] = optimizer.Example{Query: graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail}, Key: uint64(i)}
		}
		if _, err := trainer.Step(batch, uint64(step)); err != nil {
			t.Fatal(err)
		}
	}
	e = budget.Train(s, c)
	check("training", live()-before, row(e, "parameters")-3*weights+row(e, "batch")+e.Thread) // weights twice in a checkpoint, and those of the set
	runtime.KeepAlive(trainer)
	runtime.KeepAlive(set)
	runtime.KeepAlive(central)
}

// row returns the bytes of a row.
func row(e budget.Estimate, name string) int64 {
	for _, r := range e.Rows {
		if r.Name == name {
			return r.Bytes
		}
	}
	return 0
}

// live returns the bytes of the live heap.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools and finalizers kept the first time
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// read reads a dataset's training facts, or skips the test where there are none.
func read(t *testing.T, path string) (*graph.Graph, []graph.Fact) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Skipf("no data: %v", err)
	}
	defer file.Close()
	entities, relations := map[string]int32{}, map[string]int32{}
	id := func(ids map[string]int32, name string) int32 {
		if _, ok := ids[name]; !ok {
			ids[name] = int32(len(ids))
		}
		return ids[name]
	}
	var facts []graph.Fact
	for lines := bufio.NewScanner(file); lines.Scan(); {
		names := strings.Fields(lines.Text())
		facts = append(facts, graph.Fact{Head: id(entities, names[0]), Relation: id(relations, names[1]), Tail: id(entities, names[2])})
	}
	g, err := graph.New(len(entities), len(relations), facts)
	if err != nil {
		t.Fatal(err)
	}
	return g, facts
}
