package propagation

import (
	"runtime"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/parameters"
)

// TestMemoryBoundsAPropagator runs queries on a random graph and compares what is held after
// them with the formulas.
func TestMemoryBoundsAPropagator(t *testing.T) {
	tests := map[string]func(*configuration.Configuration){
		"window":      func(c *configuration.Configuration) {},
		"independent": func(c *configuration.Configuration) { c.Dependent = false },
		"wide sum":    func(c *configuration.Configuration) { c.Delta, c.Aggregate = 4, configuration.AggregateSum },
		"transe":      func(c *configuration.Configuration) { c.Message = configuration.MessageTransE },
		"specific": func(c *configuration.Configuration) {
			c.DeltaMode, c.Attention = configuration.DeltaSpecific, configuration.AttentionOwn
		},
		"full":            func(c *configuration.Configuration) { c.Policy = configuration.PolicyFull },
		"astar":           func(c *configuration.Configuration) { c.Policy = configuration.PolicyAStar },
		"astar in window": func(c *configuration.Configuration) { c.Policy = configuration.PolicyWindowWithAStar },
	}
	for name, change := range tests {
		for _, training := range []bool{false, true} {
			c := configuration.Default()
			c.Dropout = 0.1
			change(&c)
			weights, propagator := held(t, c, training)
			g := propagator.of.propagator.graph
			batch := 0
			if training {
				batch = 1 // nothing is embedded beforehand or summed here
			}
			bounds := WeightsMemory(g, c, batch, 1) + Memory(g, c, training) + GradientsMemory(c, g.RelationCount())
			got := weights + propagator.bytes
			t.Logf("%s %v: %d of %d", name, training, got, bounds)
			most := 2 * got
			if c.Prioritized() {
				most = 4 * got // how many states there are is for the weights to say
			}
			if got > bounds || bounds > most {
				t.Errorf("%s, training %v: %d bytes are held, the formula says %d", name, training, got, bounds)
			}
		}
	}
}

// TestLanesShareAPlace expects that levels whose final states are of different ages take one
// lane's out into the same buffer, as the formula has it.
func TestLanesShareAPlace(t *testing.T) {
	c := configuration.Default()
	c.Delta, c.Layers = 4, 6
	s := newSteady(t, c, 600, 700, false)
	if err := s.propagator.ForwardBatch(s.weights, s.queries[0], []int32{0, 3}); err != nil {
		t.Fatal(err)
	}
	ages := map[int]bool{}
	s.propagator.Reached(1, func(entities []int32, _ [][]float32) {
		_, last, _ := s.propagator.finalAges(entities[0])
		ages[last] = true
	})
	if held := len(s.propagator.final.lane); len(ages) < 2 || held != s.propagator.Depth() {
		t.Errorf("final states of %d ages take %d buffers, want several ages and %d", len(ages), held, s.propagator.Depth())
	}
}

type holding struct {
	of    *steady
	bytes int64
}

// held measures what weights, gradients and a propagator hold once queries ran.
func held(t *testing.T, c configuration.Configuration, training bool) (int64, holding) {
	t.Helper()
	s := newSteady(t, c, 3000, 15000, training)
	g, k := s.propagator.graph, s.propagator.kernel
	set := parameters.Initialize(parameters.Layout(c, g.RelationCount()), 1)
	s.weights, s.propagator, s.gradients = nil, nil, nil
	before := live()
	s.propagator, s.weights, s.gradients = New(g, c, k), NewWeights(g, c, training), NewGradients(c, g.RelationCount())
	if err := s.weights.Load(k, set); err != nil {
		t.Fatal(err)
	}
	loaded := live()
	for i := range s.queries {
		s.run(t, i)
		if s.propagator.windowed() && !training {
			if err := s.propagator.ForwardBatch(s.weights, s.queries[i], []int32{s.queries[i].Relation, 3}); err != nil {
				t.Fatal(err)
			}
			s.propagator.Reached(1, func([]int32, [][]float32) {})
		}
	}
	after := live()
	runtime.KeepAlive(s)
	runtime.KeepAlive(set)
	return loaded - before, holding{s, after - loaded}
}

func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
