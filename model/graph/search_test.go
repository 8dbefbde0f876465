package graph

import (
	"math/rand/v2"
	"testing"

	"tagnet/formats/hop"
)

// randomGraph returns a graph with loops, parallel relations and entities without edges.
func randomGraph(t testing.TB, rng *rand.Rand, entities, relations, facts int) *Graph {
	t.Helper()
	list := make([]Fact, facts)
	for i := range list {
		list[i] = Fact{
			Head:     int32(rng.IntN(entities)),
			Relation: int32(rng.IntN(relations)),
			Tail:     int32(rng.IntN(entities)),
		}
	}
	g, err := New(entities, relations, list)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// relaxed is Bellman-Ford over a list of edges: slow and simple.
func relaxed(g *Graph, hops int, q Query) []uint8 {
	distances := make([]uint8, g.Entities)
	for o := range distances {
		distances[o] = hop.Unreached
	}
	distances[q.Source] = 0
	for at := 1; at <= hops; at++ {
		for o := range int32(g.Entities) {
			senders, relations := g.In(o)
			for i, u := range senders {
				if int(distances[u]) == at-1 && distances[o] == hop.Unreached && !g.Removes(q, u, relations[i], o) {
					distances[o] = uint8(at)
				}
			}
		}
	}
	return distances
}

func TestSearchMatchesRelaxation(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		g := randomGraph(t, rng, 1+rng.IntN(30), 1+rng.IntN(3), rng.IntN(60))
		searcher := NewSearcher(g)
		got := make([]uint8, g.Entities)
		source := int32(rng.IntN(g.Entities))
		queries := []Query{{Source: source}}
		if senders, relations := g.In(source); len(senders) > 0 {
			for _, remove := range []Removals{RemoveFact, RemoveOneHop} {
				queries = append(queries, Query{Source: source, Relation: g.Inverse(relations[0]), Answer: senders[0], Removal: remove})
			}
		}
		for _, q := range queries {
			for hops := range 8 {
				searcher.Search(source, hops, q, got)
				want := relaxed(g, hops, q)
				for o := range want {
					if got[o] != want[o] {
						t.Fatalf("hops %d, %+v: distance of %d is %d, want %d", hops, q, o, got[o], want[o])
					}
				}
			}
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	g := randomGraph(b, rng, 15000, 200, 270000)
	searcher := NewSearcher(g)
	distances := make([]uint8, g.Entities)
	b.ReportAllocs()
	for i := range b.N {
		searcher.Search(int32(i%g.Entities), 6, Query{}, distances)
	}
}
