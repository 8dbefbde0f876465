package propagation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/configuration"
)

// result has the outputs of the propagation of a query.
type result struct {
	states    []float32
	valid     []int32
	hops      []int
	gradients string
	sent      int64
}

// resultOf propagates a query to candidates, and backward where it is for training.
func resultOf(t *testing.T, p *Propagator, w *Weights, q Request, entities []int32) result {
	t.Helper()
	if err := p.Forward(t.Context(), w, q); err != nil {
		t.Fatal(err)
	}
	r := result{states: make([]float32, len(entities)*p.Depth()*p.Width()), valid: make([]int32, len(entities)), sent: p.Sent()}
	p.Candidates(entities, r.states, r.valid)
	for _, o := range entities {
		hops, reached := p.Distance(o)
		if !reached {
			hops = -1
		}
		r.hops = append(r.hops, hops)
	}
	if q.Training {
		into := NewGradients(p.configuration, p.whole.RelationCount())
		if err := p.Backward(entities, r.states, into); err != nil {
			t.Fatal(err)
		}
		r.gradients = fmt.Sprint(into.Query, into.layers)
	}
	return r
}

func (r result) equals(o result) bool {
	return slices.Equal(r.states, o.states) && slices.Equal(r.valid, o.valid) && slices.Equal(r.hops, o.hops) && r.gradients == o.gradients && r.sent == o.sent
}

// TestReachThatCovers compares a reach that holds all that a window reaches with none, bit for bit: states, distances,
// gradients and messages, of training with dropout and removals, and of scoring. Entities that are not reached are left
// out of the part.
func TestReachThatCovers(t *testing.T) {
	t.Parallel()
	smaller, draws := 0, newDraws()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 21))
		g, c := randomGraph(t, rng), randomConfiguration(rng, draws)
		if c.Policy != configuration.PolicyWindow {
			continue
		}
		g = withIsolated(t, g, 5)
		c.Reach = 0
		within := c
		within.Reach = g.Entities - 1
		_, rounded := golden.RandomWeights(rng, c, g.RelationCount())
		all := kernel.Available()
		k := all[int(seed)%len(all)]
		var propagators [2]*Propagator
		var weights [2]*Weights
		for i, c := range []configuration.Configuration{c, within} {
			weights[i] = NewWeights(g, nil, c, true)
			if err := weights[i].Load(k, rounded); err != nil {
				t.Fatal(err)
			}
			propagators[i] = New(g, c, k)
		}
		entities := make([]int32, g.Entities)
		for o := range entities {
			entities[o] = int32(o)
		}
		for number := range 4 {
			source := int32(rng.IntN(g.Entities))
			q := Request{Query: randomQuery(rng, g, c, source), Training: number%2 == 0, Seed: seed}
			read := entities
			if number > 1 {
				read = []int32{source, int32(rng.IntN(g.Entities)), int32(rng.IntN(g.Entities))}
				q.Candidates = read
			}
			want, got := resultOf(t, propagators[0], weights[0], q, read), resultOf(t, propagators[1], weights[1], q, read)
			if !got.equals(want) {
				t.Fatalf("seed %d, query %d: %+v, want %+v; configuration %s", seed, number, got, want, c)
			}
			if propagators[1].graph.Entities < g.Entities {
				smaller++
			}
		}
	}
	if smaller < 100 {
		t.Errorf("only %d parts are smaller than the graph", smaller)
	}
}

// TestReachOfTheWholeGraph leaves out a reach of all entities.
func TestReachOfTheWholeGraph(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{configuration.PolicyWindow, configuration.PolicyFull} {
		c := configuration.Default()
		c.Policy, c.Reach = policy, 50
		if got := c.Within(50); got.Reach != 0 {
			t.Errorf("%s: a reach of 50 among 50 entities is %d", policy, got.Reach)
		}
		if got := c.Within(51); got.Reach != 50 {
			t.Errorf("%s: a reach of 50 among 51 entities is %d", policy, got.Reach)
		}
	}
}

// TestReachWithoutTheAnswersEdge asks a training query whose answer only the removed edge brings near: it must not be
// in the reach.
func TestReachWithoutTheAnswersEdge(t *testing.T) {
	t.Parallel()
	// The source 0 has the neighbors 1 to 9, which have neighbors 11 to 19; 10 hangs on the removed edge alone.
	facts := []graph.Fact{{Head: 0, Relation: 1, Tail: 10}}
	for o := int32(1); o < 10; o++ {
		facts = append(facts, graph.Fact{Head: 0, Relation: 0, Tail: o}, graph.Fact{Head: o, Relation: 0, Tail: o + 10})
	}
	g, err := graph.New(30, 2, facts)
	if err != nil {
		t.Fatal(err)
	}
	c := configuration.Default()
	c.Layers, c.Reach, c.Dim = 3, 11, 8
	k := kernel.Available()[0]
	_, rounded := golden.RandomWeights(rand.New(rand.NewPCG(1, 1)), c, g.RelationCount())
	w := NewWeights(g, nil, c, true)
	if err := w.Load(k, rounded); err != nil {
		t.Fatal(err)
	}
	p := New(g, c, k)
	for _, removes := range []bool{false, true} {
		q := Request{Query: graph.Query{Source: 0, Relation: 1, Answer: 10}, Training: true, Candidates: []int32{10, 1}}
		if removes {
			q.Removal = graph.RemoveFact
		}
		r := resultOf(t, p, w, q, q.Candidates)
		if inside := p.local(10) >= 0; inside == removes || (r.valid[0] > 0) == removes || r.valid[1] == 0 {
			t.Errorf("removal %v: answer inside %v, states %v", removes, inside, r.valid)
		}
		if degree := p.graph.DegreeWithout(p.query.Source, p.query.Query); degree != g.DegreeWithout(0, q.Query) {
			t.Errorf("removal %v: the source's degree is %d, want %d", removes, degree, g.DegreeWithout(0, q.Query))
		}
	}
}

// TestReachKeepsNoArraysOfTheGraph bounds the states of a propagator within a reach.
func TestReachKeepsNoArraysOfTheGraph(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	g := golden.RandomGraph(t, rng, 20_000, 2, 60_000)
	c := configuration.Default()
	c.Reach, c.Dim = 100, 8
	k := kernel.Available()[0]
	_, rounded := golden.RandomWeights(rng, c, g.RelationCount())
	w := NewWeights(g, nil, c, true)
	if err := w.Load(k, rounded); err != nil {
		t.Fatal(err)
	}
	p := New(g, c, k)
	q := Request{Query: graph.Query{Source: 7, Relation: 1}, Training: true, Candidates: []int32{1, 2, 3}}
	resultOf(t, p, w, q, q.Candidates)
	for name, size := range map[string]int{"states": len(p.policy.(*windowPolicy).states.all) / c.Dim,
		"gradients": len(p.policy.(*windowPolicy).gradients.all) / c.Dim, "entities": p.graph.Entities} {
		if size > c.Reach*c.Ages() {
			t.Errorf("%d %s within a reach of %d", size, name, c.Reach)
		}
	}
}
