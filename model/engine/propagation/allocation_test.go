package propagation

import (
	"math/rand/v2"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// steady is a propagator with queries to run over and over, as a worker does.
type steady struct {
	propagator *Propagator
	weights    *Weights
	queries    []Request
	entities   []int32
	states     []float32
	valid      []int32
	gradients  *Gradients
}

func newSteady(t testing.TB, c configuration.Configuration, entities, facts int, training bool) *steady {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 7))
	list := make([]graph.Fact, facts)
	for i := range list {
		list[i] = graph.Fact{Head: int32(rng.IntN(entities)), Relation: int32(rng.IntN(20)), Tail: int32(rng.IntN(entities))}
	}
	g, err := graph.New(entities, 20, list)
	if err != nil {
		t.Fatal(err)
	}
	set := parameters.NewSet[float32](parameters.Layout(c, g.RelationCount()))
	for _, tensor := range set.Tensors {
		for i := range tensor.Data {
			tensor.Data[i] = float32(rng.NormFloat64() / 4)
		}
	}
	k, err := kernel.Named("")
	if err != nil {
		t.Fatal(err)
	}
	s := &steady{propagator: New(g, c, k), weights: NewWeights(g, nil, c, training), gradients: NewGradients(c, g.RelationCount())}
	if err := s.weights.Load(k, set); err != nil {
		t.Fatal(err)
	}
	for i := range 8 {
		q := Request{Query: graph.Query{Source: int32(i), Relation: int32(i)}, Training: training}
		s.queries = append(s.queries, q)
	}
	s.entities = []int32{1, 2, 3, 4, 5, 6, 7}
	s.states = make([]float32, len(s.entities)*s.propagator.Depth()*s.propagator.Width())
	s.valid = make([]int32, len(s.entities))
	return s
}

func (s *steady) run(t testing.TB, i int) {
	q := s.queries[i%len(s.queries)]
	if err := s.propagator.Forward(t.Context(), s.weights, q); err != nil {
		t.Fatal(err)
	}
	s.propagator.Candidates(s.entities, s.states, s.valid)
	if q.Training {
		if err := s.propagator.Backward(s.entities, s.states, s.gradients); err != nil {
			t.Fatal(err)
		}
	}
}

// TestQueriesDoNotAllocate runs queries until every buffer has its size. Later ones must allocate nothing.
func TestQueriesDoNotAllocate(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector has pools forget what they hold, at random")
	}
	for _, policy := range []string{configuration.PolicyWindow, configuration.PolicyFull, configuration.PolicyWindowWithAStar} {
		for _, training := range []bool{false, true} {
			c := configuration.Default()
			c.Policy, c.Dropout = policy, 0.2
			s := newSteady(t, c, 300, 900, training)
			for i := range 2 * len(s.queries) {
				s.run(t, i)
			}
			i := 0
			if allocations := testing.AllocsPerRun(len(s.queries), func() { s.run(t, i); i++ }); allocations > 0 {
				t.Errorf("%s, training %v: %v allocations per query", policy, training, allocations)
			}
		}
	}
}

func BenchmarkForward(b *testing.B)         { benchmark(b, false) }
func BenchmarkForwardBackward(b *testing.B) { benchmark(b, true) }

// benchmark reports time per message on a random graph of FB15k-237's size.
func benchmark(b *testing.B, training bool) {
	c := configuration.Default()
	s := newSteady(b, c, 14541, 272115, training)
	for i := range s.queries {
		s.run(b, i)
	}
	b.ReportAllocs()
	sent, i := int64(0), 0
	for b.Loop() {
		s.run(b, i)
		sent += s.propagator.Sent()
		i++
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(sent), "ns/message")
}
