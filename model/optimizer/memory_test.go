package optimizer

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"tagnet/model/adam"
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// TestMemoryBoundsATrainer trains for some steps on a random graph and compares what is held
// after them with the formula.
func TestMemoryBoundsATrainer(t *testing.T) {
	for name, change := range map[string]func(*configuration.Configuration){
		"default":        func(*configuration.Configuration) {},
		"independent":    func(c *configuration.Configuration) { c.Dependent = false },
		"many negatives": func(c *configuration.Configuration) { c.Negatives, c.BatchSize = 2048, 4 },
		"specific": func(c *configuration.Configuration) {
			c.DeltaMode, c.Attention, c.Negatives = configuration.DeltaSpecific, configuration.AttentionOwn, 1024
		},
	} {
		c := configuration.Default()
		change(&c)
		const entities, relations, replicas = 2000, 40, 2
		random := rand.New(rand.NewPCG(3, 3))
		facts := make([]graph.Fact, 10000)
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
		layout := parameters.Layout(c, g.RelationCount())
		set := parameters.Initialize(layout, 1)
		solver := adam.New(layout, c.LearningRate, 0, k)
		before := live()
		trainer, err := New(g, c, set, solver, replicas, k)
		if err != nil {
			t.Fatal(err)
		}
		for step := range 4 {
			var batch []Example
			for i := range c.BatchSize {
				f := facts[step*c.BatchSize+i]
				batch = append(batch, Example{Source: f.Head, Relation: f.Relation, Answer: f.Tail, Key: uint64(i)})
			}
			if _, err := trainer.Step(batch, uint64(step)); err != nil {
				t.Fatal(err)
			}
		}
		held := live() - before
		shared, worker := Memory(g, c, replicas)
		if bound := shared + replicas*worker; held > bound || bound > 2*held {
			t.Errorf("%s: %d bytes are held, the formula says %d", name, held, bound)
		}
		runtime.KeepAlive(trainer)
		runtime.KeepAlive(facts)
	}
}

func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
