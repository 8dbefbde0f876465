package gpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/graph"
	"tagnet/model/steps"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
	"tagnet/model/weightstest"
)

// scenario is a graph with a configuration and a batch of examples.
type scenario struct {
	name          string
	graph         *graph.Graph
	configuration configuration.Configuration
	examples      []steps.Example
	again         bool // whether a second step finds what the first left in memory
	capacity      int  // queries that fit the device's memory, 0 for all
	scored        bool // whether scoring is compared, too, since a step does not have all of it
}

// small is a configuration whose steps the interpreter computes fast.
func small() configuration.Configuration {
	c := configuration.Default()
	c.Layers, c.Negatives, c.StrictNegatives, c.Dropout = 3, 5, false, 0.2
	return c
}

func newGraph(t testing.TB, entities, relations int, facts []graph.Fact) *graph.Graph {
	t.Helper()
	g, err := graph.New(entities, relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// sparse returns a random graph with self-loops and parallel edges, whose last entities are isolated.
func sparse(t testing.TB, draw *rand.Rand, entities, relations, facts int) *graph.Graph {
	t.Helper()
	var list []graph.Fact
	for range facts {
		list = append(list, graph.Fact{Head: int32(draw.IntN(entities - 2)), Relation: int32(draw.IntN(relations)), Tail: int32(draw.IntN(entities - 2))})
	}
	for v := range int32(3) {
		list = append(list, graph.Fact{Head: v, Relation: 0, Tail: v}, graph.Fact{Head: v, Relation: 0, Tail: v + 1},
			graph.Fact{Head: v, Relation: 1, Tail: v + 1})
	}
	return newGraph(t, entities, relations, list)
}

// withHubs returns a random graph in which entities 0 and 1 have so many edges that a block computes them.
func withHubs(t testing.TB, draw *rand.Rand) *graph.Graph {
	t.Helper()
	const relations, entities = 4, heavyDegree/8 + 4
	var list []graph.Fact
	for v := range int32(entities - 2) {
		for r := range int32(relations) {
			for hub := range int32(2) {
				list = append(list, graph.Fact{Head: hub, Relation: r, Tail: v}, graph.Fact{Head: v, Relation: r, Tail: hub})
			}
		}
	}
	for range 40 {
		list = append(list, graph.Fact{Head: int32(draw.IntN(entities)), Relation: int32(draw.IntN(relations)), Tail: int32(draw.IntN(entities))})
	}
	g := newGraph(t, entities, relations, list)
	if g.Degree(0) <= heavyDegree || g.Degree(1) <= heavyDegree || g.Degree(2) > heavyDegree {
		t.Fatalf("entities 0, 1 and 2 have degrees %d, %d and %d", g.Degree(0), g.Degree(1), g.Degree(2))
	}
	return g
}

// draw draws n examples, of which most are facts of the graph.
func draw(random *rand.Rand, g *graph.Graph, n int) []steps.Example {
	var examples []steps.Example
	for len(examples) < n {
		e := steps.Example{Query: graph.Query{Source: int32(random.IntN(g.Entities)), Relation: int32(random.IntN(g.RelationCount())),
			Answer: int32(random.IntN(g.Entities))}, Key: random.Uint64()}
		if from, to := g.Offsets[e.Source], g.Offsets[e.Source+1]; to > from && len(examples)%4 < 3 {
			edge := from + int64(random.IntN(int(to-from)))
			e.Answer, e.Relation = g.Senders[edge], g.Inverse(g.Relations[edge])
		}
		examples = append(examples, e)
	}
	return examples
}

// scenarios cover what a graph can be, and the sizes of steps. The choices of a configuration are
// drawn: see anyScenarios.
func scenarios(t testing.TB) []scenario {
	random := rand.New(rand.NewPCG(3, 4))
	var all []scenario
	add := func(name string, g *graph.Graph, n int, change func(*configuration.Configuration)) *scenario {
		c := small()
		if change != nil {
			change(&c)
		}
		s := scenario{name: name, graph: g, configuration: c, examples: draw(random, g, n)}
		s.configuration.BatchSize = n
		all = append(all, s)
		return &all[len(all)-1]
	}
	hubs := withHubs(t, random)
	s := add("hubs", hubs, 3, func(c *configuration.Configuration) { c.DegreeMessages = true })
	s.examples[0].Source, s.examples[1].Answer, s.scored = 0, 1, true
	s = add("hubs, dim 64, degree messages", hubs, 3, func(c *configuration.Configuration) { c.Dim, c.DegreeMessages, c.Delta = 64, true, 1 })
	s.examples[0].Source, s.examples[1].Answer = 1, 0
	s = add("hubs, maximum, specific, one_hop", hubs, 3, func(c *configuration.Configuration) {
		c.Aggregate, c.DeltaMode, c.Attention, c.Remove = "max", "specific", "own", "one_hop"
	})
	s.examples[0].Source, s.examples[0].Answer = 0, 1
	s = add("dim 8", sparse(t, random, 20, 2, 30), 3, func(c *configuration.Configuration) { c.Dim, c.DegreeMessages = 8, true })
	s.again = true
	add("specific, shared attention", sparse(t, random, 25, 3, 40), 3, func(c *configuration.Configuration) {
		c.DeltaMode, c.Attention, c.AttentionTemperature, c.Delta = "specific", "shared", 0.7, 3
	})
	s = add("hubs, dim 128", hubs, 1, func(c *configuration.Configuration) { c.Dim, c.Layers, c.Delta, c.Negatives = 128, 2, 1, 3 })
	s.examples[0].Source = 0
	add("specific, dim 100", sparse(t, random, 10, 2, 12), 1, func(c *configuration.Configuration) {
		c.DeltaMode, c.Attention, c.Dim, c.Layers, c.Delta, c.DegreeMessages = "specific", "own", 100, 2, 1, true
	})
	add("delta beyond the layers", sparse(t, random, 15, 3, 25), 2, func(c *configuration.Configuration) { c.Delta = 9; c.Layers = 4; c.Bias = false })
	s = add("full, hubs", hubs, 2, func(c *configuration.Configuration) { c.Policy, c.Layers = "full", 2 })
	s.examples[0].Source, s.again = 1, true
	add("full, sum, degree messages", sparse(t, random, 20, 3, 30), 3, func(c *configuration.Configuration) {
		c.Policy, c.Aggregate, c.DegreeMessages, c.Dependent, c.Layers, c.Dim = "full", "sum", true, false, 9, 16
	})
	add("specific, twelve ages", sparse(t, random, 12, 2, 12), 2, func(c *configuration.Configuration) {
		c.DeltaMode, c.Attention, c.Layers, c.Delta = "specific", "own", 12, 11
	})
	add("400 negatives", sparse(t, random, 300, 2, 250), 2, func(c *configuration.Configuration) { c.Layers, c.Negatives = 2, 400 })
	s = add("chunks", sparse(t, random, 20, 2, 30), 7, func(c *configuration.Configuration) { c.Layers = 2 })
	s.capacity, s.again = 3, true
	s = add("relations from a graph, hubs", hubs, 3, func(c *configuration.Configuration) { c.Relations, c.RelationLayers, c.Delta = "graph", 2, 1 })
	s.examples[0].Source, s.again = 0, true
	add("relations from a graph, dim 64, sum, full", sparse(t, random, 8, 5, 8), 3, func(c *configuration.Configuration) {
		c.Relations, c.RelationLayers, c.Layers, c.Dim, c.Policy, c.Aggregate, c.WeightDecay = "graph", 2, 2, 64, "full", "sum", 0.1
	})
	s = add("relations from a graph, chunks", sparse(t, random, 12, 6, 16), 7, func(c *configuration.Configuration) {
		c.Relations, c.RelationLayers, c.Layers, c.Dim, c.DeltaMode, c.Attention = "graph", 2, 2, 8, "specific", "shared"
	})
	s.capacity = 3
	s = add("40 queries, specific, relations from a graph", sparse(t, random, 12, 3, 20), 40, func(c *configuration.Configuration) {
		c.DeltaMode, c.Attention, c.Relations, c.RelationLayers, c.Layers, c.Dim = "specific", "shared", "graph", 1, 2, 8
	})
	s.scored = true
	add("reach of all entities", sparse(t, random, 20, 2, 30), 3, func(c *configuration.Configuration) { c.Reach, c.ReachNegatives, c.Dim = 20, 0.5, 8 })
	add("one entity", newGraph(t, 1, 1, nil), 2, nil)
	add("one entity, self-loop", newGraph(t, 1, 2, []graph.Fact{{Head: 0, Relation: 1, Tail: 0}}), 2, nil)
	add("no edges", newGraph(t, 5, 2, nil), 3, func(c *configuration.Configuration) { c.DegreeMessages = true })
	s = add("softmax, negatives that repeat and are the answer", sparse(t, random, 8, 2, 12), 7, func(c *configuration.Configuration) {
		c.Loss, c.Negatives, c.Layers, c.Dim = "softmax", 40, 2, 8
	})
	s.capacity, s.again = 3, true
	return all
}

func (s scenario) parameters() *parameters.Set[float32] {
	return parameters.Initialize(s.layout(), 5)
}

func (s scenario) layout() []parameters.Shape {
	return parameters.Layout(s.configuration, s.graph.RelationCount())
}

func (s scenario) solver() *steps.Adam {
	return steps.NewAdam(s.layout(), s.configuration.LearningRate, s.configuration.WeightDecay, kernel.Available()[0])
}

// newTrainer returns a trainer whose chunks have the scenario's number of queries.
func (s scenario) newTrainer(d device.Device, p *parameters.Set[float32], solver *steps.Adam) (*Trainer, error) {
	if s.capacity == 0 {
		return NewTrainer(d, s.graph, nil, s.configuration, p, solver)
	}
	whole, err := NewTrainer(interpreter.New(), s.graph, nil, s.configuration, p, solver)
	if err != nil {
		return nil, err
	}
	var each, once int64
	for _, b := range whole.buffers(1+s.configuration.Negatives, s.configuration.BatchSize) {
		each, once = each+b.bytes+256, once+b.once+256
	}
	if b := whole.between; b != nil {
		eachBase, bases := b.needs(s.configuration.BatchSize)
		each, once = each+eachBase+b.slotBytes(), once+bases
	}
	return newTrainer(d, s.graph, nil, s.configuration, p, solver, once+each*int64(s.capacity)+each/2)
}

// ordered has options of an interpreter that is the same in each run.
var ordered = []interpreter.Option{interpreter.Seed(7), interpreter.Workers(1)}

// anyScenarios returns random graphs with random configurations, which cover every choice that a device computes.
func anyScenarios(t testing.TB, seed uint64) (all []scenario) {
	t.Helper()
	draws := weightstest.Draws{Numbers: randomNumbers, Refuses: func(c configuration.Configuration) string {
		if refused, is := errors.AsType[*UnsupportedError](Supports(c)); is {
			return refused.Field
		}
		return ""
	}}
	for end := seed + 60; seed < end; seed++ {
		random := rand.New(rand.NewPCG(seed, 0))
		c := draws.Draw(random)
		if !draws.Take(c) {
			continue // a step takes long
		}
		entities := 4 + random.IntN(30)
		g := sparse(t, random, entities, 2+random.IntN(3), random.IntN(4*entities))
		all = append(all, scenario{name: fmt.Sprintf("random %d", seed), graph: g, configuration: c, examples: draw(random, g, c.BatchSize)})
	}
	draws.Check(t)
	return all
}

// randomNumbers sets numbers with which the interpreter computes a step fast.
func randomNumbers(random *rand.Rand, c *configuration.Configuration) {
	c.Dim, c.Layers, c.Delta = 1+random.IntN(32), 1+random.IntN(4), random.IntN(4)
	if random.IntN(4) == 0 {
		c.Dim = 33 + random.IntN(32)
	}
	c.Dropout, c.AttentionTemperature = float64(random.IntN(3))/4, 0.5+random.Float64()
	c.Negatives, c.BatchSize, c.AdversarialTemperature = 1+random.IntN(20), 1+random.IntN(4), float64(random.IntN(2))
	c.RelationLayers = 0
	if c.Transfers() {
		c.RelationLayers = 1 + random.IntN(3)
	}
}
