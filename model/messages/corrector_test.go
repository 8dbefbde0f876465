package messages

import (
	"math/rand/v2"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/graph"
)

// plain lists the edges that are left, searches them level by level and counts them one by one: slow,
// and independent of the code under test.
func plain(g *graph.Graph, hops int, removal graph.Removal) Levels {
	type edge struct{ from, to int32 }
	var edges []edge
	for o := range int32(g.Entities) {
		senders, relations := g.In(o)
		for i, u := range senders {
			if !removal.Removes(u, relations[i], o) {
				edges = append(edges, edge{u, o})
			}
		}
	}
	level := map[int32]int{removal.Source: 0}
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

// removalsOf returns the removals of the training queries of facts, both directions of each.
func removalsOf(g *graph.Graph, facts []graph.Fact, oneHop bool) []graph.Removal {
	var all []graph.Removal
	for _, f := range facts {
		removal := graph.Removal{Active: true, OneHop: oneHop, Source: f.Head, Answer: f.Tail, Relation: f.Relation, Inverse: g.Inverse(f.Relation)}
		inverse := removal
		inverse.Source, inverse.Answer, inverse.Relation, inverse.Inverse = f.Tail, f.Head, removal.Inverse, removal.Relation
		all = append(all, removal, inverse)
	}
	return all
}

// corrected returns a corrector's levels for a removal, after a search and a count of the whole graph.
func corrected(c *Corrector, distances []uint8, hops int, removal graph.Removal) Levels {
	graph.NewSearcher(c.graph).Search(removal.Source, hops, graph.Removal{}, distances)
	c.Reset(removal.Source, distances, hops, CountLevels(c.graph, distances, hops))
	return c.Without(removal)
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
		removals := append(removalsOf(g, facts, false), removalsOf(g, facts, true)...)
		random.Shuffle(len(removals), func(i, j int) { removals[i], removals[j] = removals[j], removals[i] })
		searcher, before, after := graph.NewSearcher(g), make([]uint8, entities), make([]uint8, entities)
		for _, removal := range removals {
			got, want := corrected(corrector, distances, hops, removal), plain(g, hops, removal)
			if got != want {
				t.Fatalf("trial %d, %d hops, %+v of %v:\n%+v, want\n%+v", trial, hops, removal, facts, got, want)
			}
			searcher.Search(removal.Source, hops, graph.Removal{}, before)
			searcher.Search(removal.Source, hops, removal, after)
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
		one, removals := NewCorrector(g), removalsOf(g, facts, true)
		source := removals[0].Source
		graph.NewSearcher(g).Search(source, hops, graph.Removal{}, distances)
		one.Reset(source, distances, hops, CountLevels(g, distances, hops))
		for range 40 {
			removal := removals[random.IntN(len(removals))]
			if removal.Source != source {
				continue
			}
			if got, want := one.Without(removal), plain(g, hops, removal); got != want {
				t.Fatalf("%+v of %v:\n%+v, want\n%+v", removal, facts, got, want)
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
		removals := removalsOf(g, facts, trial%2 == 0)
		for range 10 {
			removal := removals[random.IntN(len(removals))]
			levels := corrected(corrector, distances, hops, removal)
			graph.NewSearcher(g).Search(removal.Source, hops, removal, distances)
			compare(t, g, distances, removal, levels, hops)
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
	for name, removal := range map[string]graph.Removal{
		"inactive":        {Source: 0, Answer: 1},
		"other relation":  {Active: true, Source: 0, Answer: 1, Relation: 1, Inverse: 3},
		"other direction": {Active: true, Source: 1, Answer: 0, Relation: 0, Inverse: 2},
		"no neighbor":     {Active: true, OneHop: true, Source: 0, Answer: 2},
		"never reached":   {Active: true, Source: 0, Answer: 3},
		"no loop":         {Active: true, OneHop: true, Source: 0, Answer: 0},
		"without edges":   {Active: true, Source: 3, Answer: 0},
	} {
		t.Run(name, func(t *testing.T) {
			got := corrected(NewCorrector(g), make([]uint8, g.Entities), 6, removal)
			if want := plain(g, 6, graph.Removal{Source: removal.Source}); got != want {
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
		graph.NewSearcher(g).Search(source, 6, graph.Removal{}, distances)
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
	corrector, removals := NewCorrector(g), removalsOf(g, facts, false)
	each := testing.AllocsPerRun(3, func() {
		for _, removal := range removals {
			searcher.Search(removal.Source, 6, graph.Removal{}, distances)
			corrector.Reset(removal.Source, distances, 6, CountLevels(g, distances, 6))
			corrector.Without(removal)
		}
	})
	if each > 1 { // the searcher's list, once
		t.Errorf("%v allocations", each)
	}
}
