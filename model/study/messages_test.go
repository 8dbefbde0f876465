package study

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// count counts the edges of a query's graph one by one, as the definition says.
func count(g *graph.Graph, distances []uint8, q graph.Query, layers, layer, delta int) Counts {
	const far = 1 << 20
	distance := func(o int32) int {
		if int(distances[o]) > layers {
			return far
		}
		return int(distances[o])
	}
	var c Counts
	for o := range int32(g.Entities) {
		senders, relations := g.In(o)
		for i, u := range senders {
			if g.Removes(q, u, relations[i], o) {
				continue
			}
			c.Edges++
			active := layer-delta <= distance(o) && distance(o) <= layer
			kept := active && distance(u) < distance(o)+delta
			empty := distance(u) > layer-1
			switch {
			case kept && empty:
				c.Kept++
				c.KeptEmpty++
			case kept:
				c.Kept++
			case empty:
				c.PrunedEmpty++
			default:
				c.PrunedRedundant++
			}
		}
	}
	return c
}

func randomGraph(t *testing.T, random *rand.Rand, entities, facts int) (*graph.Graph, []graph.Fact) {
	t.Helper()
	list := make([]graph.Fact, facts)
	for i := range list {
		// Ids near each other, so that there are long paths; with loops and parallel relations.
		h := random.Int32N(int32(entities))
		list[i] = graph.Fact{Head: h, Relation: random.Int32N(2), Tail: (h + random.Int32N(4)) % int32(entities)}
	}
	g, err := graph.New(entities, 2, list)
	if err != nil {
		t.Fatal(err)
	}
	return g, list
}

// TestLayerEqualsCountingEdgeByEdge compares with the definition for every number of layers,
// layer and delta, on graphs where entities stay unreached.
func TestLayerEqualsCountingEdgeByEdge(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for trial := range 30 {
		g, _ := randomGraph(t, random, 12+trial, 6+2*trial)
		source := random.Int32N(int32(g.Entities))
		distances := make([]uint8, g.Entities)
		for _, hops := range []int{6, configuration.MaxLayers} {
			graph.NewSearcher(g).Search(source, hops, graph.Query{}, distances)
			compare(t, g, distances, graph.Query{}, CountLevels(g, distances, hops), hops)
		}
	}
}

func compare(t *testing.T, g *graph.Graph, distances []uint8, q graph.Query, levels Levels, hops int) {
	t.Helper()
	for layers := 1; layers <= hops; layers++ {
		for layer := 1; layer <= layers; layer++ {
			for delta := range layers + 2 {
				got, want := levels.Layer(layers, layer, delta), count(g, distances, q, layers, layer, delta)
				if got != want {
					t.Fatalf("%d layers, layer %d, delta %d, %+v: %+v, want %+v", layers, layer, delta, q, got, want)
				}
			}
		}
	}
}

// TestSumsAreWhole checks the invariants of every count.
func TestSumsAreWhole(t *testing.T) {
	t.Parallel()
	g, _ := randomGraph(t, rand.New(rand.NewPCG(7, 8)), 30, 60)
	distances := make([]uint8, g.Entities)
	graph.NewSearcher(g).Search(0, 6, graph.Query{}, distances)
	levels := CountLevels(g, distances, 6)
	for delta := range 7 {
		t.Run(fmt.Sprint("delta ", delta), func(t *testing.T) {
			var sum Counts
			for layer := range 6 {
				sum = sum.Plus(levels.Layer(6, layer+1, delta).Times(3))
			}
			if sum.Edges != 3*6*g.Edges() || sum.Kept+sum.PrunedEmpty+sum.PrunedRedundant != sum.Edges || sum.KeptEmpty > sum.Kept {
				t.Fatalf("%+v", sum)
			}
		})
	}
}
