package propagation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// sparse returns a graph in which most entities are more than three edges away from each other, some with loops, parallel
// edges or no edges.
func sparse(t testing.TB) *graph.Graph {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 3))
	const entities = 500
	var facts []graph.Fact
	for range 550 {
		facts = append(facts, graph.Fact{Head: rng.Int32N(entities), Relation: rng.Int32N(3), Tail: rng.Int32N(entities)})
	}
	for range 40 {
		f := facts[rng.IntN(len(facts))]
		facts = append(facts, graph.Fact{Head: f.Head, Relation: (f.Relation + 1) % 3, Tail: f.Tail}, graph.Fact{Head: f.Head, Relation: 1, Tail: f.Head})
	}
	g, err := graph.New(entities, 3, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// backgroundModels are configurations that have a background.
func backgroundModels() map[string]configuration.Configuration {
	models := map[string]configuration.Configuration{}
	for _, message := range []string{configuration.MessageDistMult, configuration.MessageTransE, configuration.MessageRotatE} {
		for _, aggregate := range []string{configuration.AggregatePNA, configuration.AggregateSum} {
			c := configuration.Default()
			c.Policy, c.Layers, c.Dependent, c.Message, c.Aggregate = configuration.PolicyFull, 3, false, message, aggregate
			c.Bias, c.DegreeMessages = message == configuration.MessageTransE, message == configuration.MessageRotatE
			models[message+" "+aggregate] = c
		}
	}
	return models
}

func loaded(t testing.TB, g *graph.Graph, c configuration.Configuration, training bool, k kernel.Kernel) *Weights {
	t.Helper()
	w := NewWeights(g, nil, c, training)
	if err := w.Load(k, parameters.Initialize(parameters.Layout(c, g.RelationCount()), 5)); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestBackgroundChangesNoBitOfAScore compares states from a background with those of the whole propagation.
func TestBackgroundChangesNoBitOfAScore(t *testing.T) {
	t.Parallel()
	g := sparse(t)
	all := make([]int32, g.Entities)
	for o := range all {
		all[o] = int32(o)
	}
	for name, c := range backgroundModels() {
		for _, k := range kernel.Available() {
			t.Run(name+"/"+k.Name(), func(t *testing.T) {
				w := loaded(t, g, c, false, k)
				alone := New(g, c, k)
				shared, background := alone.Clone(), NewBackground(alone)
				var phases Phases
				shared.Measure(&phases)
				if err := background.Forward(t.Context(), w, nil, false); err != nil {
					t.Fatal(err)
				}
				for source := range int32(40) {
					q := Query{Source: source, Relation: source % 6}
					if err := alone.Forward(t.Context(), w, q); err != nil {
						t.Fatal(err)
					}
					q.Background = background
					if err := shared.Forward(t.Context(), w, q); err != nil {
						t.Fatal(err)
					}
					if !slices.Equal(candidatesOf(shared, all), candidatesOf(alone, all)) {
						t.Fatalf("source %d: states differ", source)
					}
					if shared.Sent() != alone.Sent() {
						t.Errorf("source %d: %d messages, want %d", source, shared.Sent(), alone.Sent())
					}
					if shared.Updated() != alone.Updated() || 3*(shared.Updated()-phases.Copied) > alone.Updated() {
						t.Errorf("source %d: %d updates, of which %d are copied, want two thirds of %d", source, shared.Updated(), phases.Copied, alone.Updated())
					}
					phases.Copied = 0
				}
			})
		}
	}
}

// TestBackgroundHasTheSameGradients compares a batch whose queries share a background with one whose queries compute all of their
// states.
func TestBackgroundHasTheSameGradients(t *testing.T) {
	t.Parallel()
	g := sparse(t)
	for name, c := range backgroundModels() {
		for _, remove := range []string{configuration.RemoveNone, configuration.RemoveTriple, configuration.RemoveOneHop} {
			for _, k := range kernel.Available() {
				t.Run(fmt.Sprint(name, "/", remove, "/", k.Name()), func(t *testing.T) {
					w := loaded(t, g, c, true, k)
					queries := trainingQueries(g, remove)
					want := batchGradients(t, g, c, k, w, queries, nil)
					got := batchGradients(t, g, c, k, w, queries, NewBackground(New(g, c, k)))
					for i, tensor := range got.Tensors {
						near(t, tensor.Name, tensor.Data, want.Tensors[i].Data)
					}
				})
			}
		}
	}
}

// trainingQueries are queries whose answers are near, and whose other candidates are anywhere.
func trainingQueries(g *graph.Graph, remove string) (queries []Query) {
	rng := rand.New(rand.NewPCG(2, 2))
	for len(queries) < 12 {
		source := rng.Int32N(int32(g.Entities))
		senders, relations := g.In(source)
		if len(senders) == 0 {
			continue
		}
		q := Query{Source: source, Relation: g.Inverse(relations[0]), Training: true, Candidates: []int32{senders[0]}}
		if remove != configuration.RemoveNone {
			q.Removal = graph.Removal{Active: true, OneHop: remove == configuration.RemoveOneHop, Source: source, Answer: senders[0],
				Relation: q.Relation, Inverse: relations[0]}
		}
		for range 1 + rng.IntN(20) {
			q.Candidates = append(q.Candidates, rng.Int32N(int32(g.Entities)))
		}
		queries = append(queries, q)
	}
	return queries
}

// batchGradients returns the sum of the gradients of queries whose candidates' states have themselves as gradients.
func batchGradients(t *testing.T, g *graph.Graph, c configuration.Configuration, k kernel.Kernel, w *Weights, queries []Query, b *Background) *parameters.Set[float32] {
	t.Helper()
	var candidates, relations []int32
	for _, q := range queries {
		candidates, relations = append(candidates, q.Candidates...), append(relations, q.Relation)
	}
	if b != nil {
		if err := b.Forward(t.Context(), w, candidates, true); err != nil {
			t.Fatal(err)
		}
	}
	p := New(g, c, k)
	var batch []*Gradients
	for _, q := range queries {
		q.Background = b
		batch = append(batch, gradientsOf(t, p, w, q))
		if b != nil {
			b.Add(p)
		}
	}
	if b != nil {
		into := NewGradients(c, g.RelationCount())
		b.Backward(into)
		batch, relations = append(batch, into), append(relations, 0)
	}
	sum := parameters.NewSet[float32](parameters.Layout(c, g.RelationCount()))
	if err := Sum(k, w, batch, relations, sum); err != nil {
		t.Fatal(err)
	}
	return sum
}

// TestBackgroundNeedsIndependentRelations expects errors where queries share no states.
func TestBackgroundNeedsIndependentRelations(t *testing.T) {
	t.Parallel()
	g, k := sparse(t), kernel.Available()[0]
	for name, change := range map[string]func(*configuration.Configuration){
		"dependent": func(c *configuration.Configuration) { c.Dependent = true },
		"dropout":   func(c *configuration.Configuration) { c.Dropout = .5 },
		"window":    func(c *configuration.Configuration) { c.Policy = configuration.PolicyWindow },
	} {
		c := backgroundModels()["distmult pna"]
		change(&c)
		if err := NewBackground(New(g, c, k)).Forward(t.Context(), loaded(t, g, c, true, k), nil, true); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	c := backgroundModels()["distmult pna"]
	b, p := NewBackground(New(g, c, k)), New(g, c, k)
	if err := b.Forward(t.Context(), loaded(t, g, c, true, k), nil, true); err != nil {
		t.Fatal(err)
	}
	if err := p.Forward(t.Context(), loaded(t, g, c, true, k), Query{Training: true, Background: b}); err == nil {
		t.Error("a background of other weights: no error")
	}
}
