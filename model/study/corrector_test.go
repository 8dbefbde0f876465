package study

import (
	"math/rand/v2"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// plain lists the edges that are left, searches them level by level and counts them one by one: slow,
// and independent of the code under test.
func plain(g *graph.Graph, hops int, q graph.Query) Levels {
	type edge struct{ from, to int32 }
	var edges []edge
	for o := range int32(g.Entities) {
		senders, relations := g.In(o)
		for i, u := range senders {
			if !g.Removes(q, u, relations[i], o) {
				edges = append(edges, edge{u, o})
			}
		}
	}
	level := map[int32]int{q.Source: 0}
	for distance := 1; distance <= hops; distance++ {
		for _, e := range edges {
			from, reached := level[e.from]
			if _, known := level[e.to]; reached && from == distance-1 && !known {
				level[e.to] = distance
			}
		}
	}
	l := Levels{Edges: int64(len(edges))}
	for _, e := range edges {
		from, reached := level[e.from]
		to, known := level[e.to]
		switch {
		case !reached || !known:
		case from == to:
			l.Within[to]++
		case from < to:
			l.Between[to]++
		}
	}
	return l
}

// queriesOf returns the training queries of facts, both directions of each.
func queriesOf(g *graph.Graph, facts []graph.Fact, oneHop bool) []graph.Query {
	var all []graph.Query
	remove := graph.RemoveFact
	if oneHop {
		remove = graph.RemoveOneHop
	}
	for _, f := range facts {
		all = append(all,
			graph.Query{Source: f.Head, Relation: f.Relation, Answer: f.Tail, Removal: remove},
			graph.Query{Source: f.Tail, Relation: g.Inverse(f.Relation), Answer: f.Head, Removal: remove})
	}
	return all
}

// corrected returns a corrector's levels for a query, after a search and a count of the whole graph.
func corrected(c *Corrector, distances []uint8, hops int, q graph.Query) Levels {
	graph.NewSearcher(c.graph).Search(q.Source, hops, graph.Query{}, distances)
	c.Reset(q.Source, distances, hops, CountLevels(c.graph, distances, hops))
	return c.Without(q)
}

// shaped returns facts in a row or ring, in a tree, in a row with shortcuts, or at random, with some
// loops and parallel facts among them. Most of them are bridges, so that a removal moves many entities.
func shaped(random *rand.Rand, kind, entities int) []graph.Fact {
	var facts []graph.Fact
	add := func(head, tail int) {
		facts = append(facts, graph.Fact{Head: int32(head), Relation: random.Int32N(2), Tail: int32(tail)})
	}
	for o := range entities {
		switch kind {
		case 0: // a row or a ring
			add(o, (o+1)%max(1, entities-random.IntN(2)))
		case 1: // a tree
			add(random.IntN(o+1), o)
		case 2: // a row with short cuts
			add(o, (o+random.IntN(4))%entities)
		case 3: // any
			add(random.IntN(entities), random.IntN(entities))
		}
	}
	for range random.IntN(entities + 1) {
		switch o := random.IntN(entities); random.IntN(4) {
		case 0:
			add(o, o)
		case 1:
			add(o, random.IntN(entities))
		case 2:
			f := facts[random.IntN(len(facts))]
			add(int(f.Head), int(f.Tail))
		}
	}
	return facts
}

// TestWithoutEqualsSearching compares with a search of the query's graph, for every query of graphs of
// all shapes, every number of hops and both kinds of removal. A corrector serves all queries of a graph.
func TestWithoutEqualsSearching(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	moved := 0
	for trial := range 240 {
		entities, hops := 2+random.IntN(24), 1+trial%configuration.MaxLayers
		facts := shaped(random, random.IntN(4), entities)
		g, err := graph.New(entities, 2, facts)
		if err != nil {
			t.Fatal(err)
		}
		corrector, distances := NewCorrector(g), make([]uint8, entities)
		queries := append(queriesOf(g, facts, false), queriesOf(g, facts, true)...)
		random.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
		searcher, before, after := graph.NewSearcher(g), make([]uint8, entities), make([]uint8, entities)
		for _, q := range queries {
			got, want := corrected(corrector, distances, hops, q), plain(g, hops, q)
			if got != want {
				t.Fatalf("trial %d, %d hops, %+v of %v:\n%+v, want\n%+v", trial, hops, q, facts, got, want)
			}
			searcher.Search(q.Source, hops, graph.Query{}, before)
			searcher.Search(q.Source, hops, q, after)
			if string(before) != string(after) {
				moved++
			}
		}
	}
	if moved < 1000 {
		t.Errorf("%d removals moved an entity: want at least 1000", moved)
	}
}

// TestQueriesOfASourceInAnyOrder checks that no correction affects the next.
func TestQueriesOfASourceInAnyOrder(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		const hops = 6
		facts := shaped(random, random.IntN(4), 20)
		g, err := graph.New(20, 2, facts)
		if err != nil {
			t.Fatal(err)
		}
		distances := make([]uint8, g.Entities)
		one, queries := NewCorrector(g), queriesOf(g, facts, true)
		source := queries[0].Source
		graph.NewSearcher(g).Search(source, hops, graph.Query{}, distances)
		one.Reset(source, distances, hops, CountLevels(g, distances, hops))
		for range 40 {
			q := queries[random.IntN(len(queries))]
			if q.Source != source {
				continue
			}
			if got, want := one.Without(q), plain(g, hops, q); got != want {
				t.Fatalf("%+v of %v:\n%+v, want\n%+v", q, facts, got, want)
			}
		}
	}
}

// TestCountsWithoutRemoved compares with the definition, edge by edge, for every number of
// layers, layer and delta.
func TestCountsWithoutRemoved(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 10))
	const hops = 5
	for trial := range 40 {
		g, facts := randomGraph(t, random, 10+trial/2, 8+2*trial)
		corrector, distances := NewCorrector(g), make([]uint8, g.Entities)
		queries := queriesOf(g, facts, trial%2 == 0)
		for range 10 {
			q := queries[random.IntN(len(queries))]
			levels := corrected(corrector, distances, hops, q)
			graph.NewSearcher(g).Search(q.Source, hops, q, distances)
			compare(t, g, distances, q, levels, hops)
		}
	}
}

// TestNothingRemoved checks that removing a fact that is not in the graph changes nothing.
func TestNothingRemoved(t *testing.T) {
	t.Parallel()
	g, err := graph.New(4, 2, []graph.Fact{{Head: 0, Relation: 0, Tail: 1}, {Head: 1, Relation: 0, Tail: 2}})
	if err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]graph.Query{
		"inactive":        {Source: 0, Answer: 1},
		"other relation":  {Source: 0, Relation: 1, Answer: 1, Removal: graph.RemoveFact},
		"other direction": {Source: 1, Answer: 0, Removal: graph.RemoveFact},
		"no neighbor":     {Source: 0, Answer: 2, Removal: graph.RemoveOneHop},
		"never reached":   {Source: 0, Answer: 3, Removal: graph.RemoveFact},
		"no loop":         {Source: 0, Answer: 0, Removal: graph.RemoveOneHop},
		"without edges":   {Source: 3, Answer: 0, Removal: graph.RemoveFact},
	} {
		t.Run(name, func(t *testing.T) {
			got := corrected(NewCorrector(g), make([]uint8, g.Entities), 6, q)
			if want := plain(g, 6, graph.Query{Source: q.Source}); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}

// TestSumsOfLevels checks that the counts of summed levels are the sums of the counts.
func TestSumsOfLevels(t *testing.T) {
	t.Parallel()
	g, _ := randomGraph(t, rand.New(rand.NewPCG(11, 12)), 30, 60)
	distances := make([]uint8, g.Entities)
	levels := func(source int32) Levels {
		graph.NewSearcher(g).Search(source, 6, graph.Query{}, distances)
		return CountLevels(g, distances, 6)
	}
	a, b := levels(0), levels(9)
	sum := a.Times(3).Plus(b)
	for layers := 1; layers <= 6; layers++ {
		for layer := 1; layer <= layers; layer++ {
			for delta := range 7 {
				got, want := sum.Layer(layers, layer, delta), a.Layer(layers, layer, delta).Times(3).Plus(b.Layer(layers, layer, delta))
				if got != want {
					t.Fatalf("%d layers, layer %d, delta %d: %+v, want %+v", layers, layer, delta, got, want)
				}
			}
		}
	}
}

// TestCorrectingDoesNotAllocate checks that a worker's corrector allocates nothing for each query.
func TestCorrectingDoesNotAllocate(t *testing.T) {
	g, facts := randomGraph(t, rand.New(rand.NewPCG(13, 14)), 200, 300)
	searcher, distances := graph.NewSearcher(g), make([]uint8, g.Entities)
	corrector, queries := NewCorrector(g), queriesOf(g, facts, false)
	each := testing.AllocsPerRun(3, func() {
		for _, q := range queries {
			searcher.Search(q.Source, 6, graph.Query{}, distances)
			corrector.Reset(q.Source, distances, 6, CountLevels(g, distances, 6))
			corrector.Without(q)
		}
	})
	if each > 1 { // the searcher's list, once
		t.Errorf("%v allocations", each)
	}
}
