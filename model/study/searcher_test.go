package study

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/formats/hop"
	"tagnet/formats/workspace/tables"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
)

// eachWidth runs a test for every kernel variant and every width of its rows.
func eachWidth(t *testing.T, test func(t *testing.T, k kernel.Kernel, words int)) {
	for _, k := range kernel.Available() {
		for _, words := range k.RowWidths() {
			t.Run(fmt.Sprintf("%s/%d sources", k.Name(), 64*words), func(t *testing.T) { test(t, k, words) })
		}
	}
}

func newGraph(t testing.TB, entities, relations int, facts []graph.Fact) *graph.Graph {
	t.Helper()
	g, err := graph.New(entities, relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// searchedGraph returns a graph with loops, parallel relations and entities without edges. Edges join
// entities of similar ids, so that there are long paths.
func searchedGraph(t testing.TB, random *rand.Rand, entities, facts int) *graph.Graph {
	t.Helper()
	list := make([]graph.Fact, facts)
	for i := range list {
		h := random.IntN(entities)
		list[i] = graph.Fact{Head: int32(h), Relation: random.Int32N(3), Tail: int32((h + random.IntN(4)) % entities)}
	}
	return newGraph(t, entities, 3, list)
}

var both = Gather{Distances: true, Levels: true}

// pack packs distances: two to a byte, the even entity in the low half.
func pack(distances []uint8) []byte {
	packed := make([]byte, tables.PackedLen(len(distances)))
	for i := range packed {
		packed[i] = hop.Packed << 4
	}
	for i, d := range distances {
		d = min(d, hop.Packed)
		if i%2 == 0 {
			packed[i/2] |= d
		} else {
			packed[i/2] &= d<<4 | 15
		}
	}
	return packed
}

// compareSearch compares a search with one from every source alone, and with counting edge by edge.
func compareSearch(t *testing.T, s *Searcher, g *graph.Graph, sources []int32, hops int) {
	t.Helper()
	if err := s.Search(sources, hops); err != nil {
		t.Fatal(err)
	}
	one, distances := graph.NewSearcher(g), make([]uint8, g.Entities)
	for i, source := range sources {
		one.Search(source, hops, graph.Query{}, distances)
		if want := pack(distances); s.gather.Distances && !slices.Equal(s.Packed(i), want) {
			t.Fatalf("%d hops, source %d at index %d: packed % x, want % x", hops, source, i, s.Packed(i), want)
		}
		if want := CountLevels(g, distances, hops); s.gather.Levels && s.Levels(i) != want {
			t.Fatalf("%d hops, source %d at index %d: levels %+v, want %+v", hops, source, i, s.Levels(i), want)
		}
	}
}

// TestSearchEqualsSingleSource covers numbers of sources that fill a last word in every way, and numbers
// of hops from 0 to more than there are levels.
func TestSearchEqualsSingleSource(t *testing.T) {
	t.Parallel()
	eachWidth(t, func(t *testing.T, k kernel.Kernel, words int) {
		random := rand.New(rand.NewPCG(1, 2))
		for _, entities := range []int{1, 15, 16, 17, 80, 300} {
			for _, facts := range []int{0, entities / 2, 2 * entities, 9 * entities} {
				g := searchedGraph(t, random, entities, facts)
				s, alone := NewSearcher(g, k, words, both), NewSearcher(g, k, words, Gather{Distances: true}) // used again and again
				alone.visitNeighbors(NewNeighbors(g))
				for _, n := range []int{0, 1, 2, 63, 64, 65, 200, 256, 511, 512} {
					if n > s.Width() {
						continue
					}
					sources := make([]int32, n)
					for i := range sources {
						sources[i] = random.Int32N(int32(entities))
					}
					for _, hops := range []int{0, 1, 2, 5, 14} {
						compareSearch(t, s, g, sources, hops)
						compareSearch(t, alone, g, sources, hops)
					}
				}
			}
		}
	})
}

// TestEachAlone gathers distances alone, levels alone, or neither.
func TestEachAlone(t *testing.T) {
	t.Parallel()
	eachWidth(t, func(t *testing.T, k kernel.Kernel, words int) {
		g := searchedGraph(t, rand.New(rand.NewPCG(3, 4)), 90, 150)
		for _, gather := range []Gather{{Distances: true}, {Levels: true}, {}} {
			s := NewSearcher(g, k, words, gather)
			s.visitNeighbors(NewNeighbors(g))
			compareSearch(t, s, g, []int32{5, 80, 5, 0, 89}, 6)
			if s.Packed(0) != nil != gather.Distances || (s.Levels(0) != Levels{}) != gather.Levels {
				t.Errorf("%+v: has distances %v, levels %+v", gather, s.Packed(0), s.Levels(0))
			}
		}
	})
}

// TestHub searches a hub with a million neighbors, joined by two relations each, loops at the hub, a
// separate pair, and an entity without edges.
func TestHub(t *testing.T) {
	t.Parallel()
	const leaves = 1_000_000
	var facts []graph.Fact
	for leaf := range int32(leaves) {
		facts = append(facts, graph.Fact{Head: 0, Relation: 0, Tail: leaf + 1}, graph.Fact{Head: leaf + 1, Relation: 1, Tail: 0})
	}
	facts = append(facts, graph.Fact{Head: 0, Relation: 2, Tail: 0}, graph.Fact{Head: leaves + 1, Relation: 0, Tail: leaves + 2})
	g := newGraph(t, leaves+4, 3, facts)
	available := kernel.Available()
	for _, k := range []kernel.Kernel{available[0], available[len(available)-1]} {
		t.Run(k.Name(), func(t *testing.T) {
			sources := []int32{0, 7, leaves + 1, leaves + 3, leaves, 0}
			widths := k.RowWidths()
			s := NewSearcher(g, k, widths[len(widths)-1], both)
			compareSearch(t, s, g, sources, 3)
			if l := s.Levels(0); l.Between[1] != 2*leaves || l.Within[0] != 2 || l.Within[1] != 0 {
				t.Errorf("levels of the hub: %+v", l)
			}
		})
	}
}

// TestEveryNumberOfSources covers every number of sources of the widest rows.
func TestEveryNumberOfSources(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	g := searchedGraph(t, random, 40, 70)
	sources := make([]int32, 512)
	for i := range sources {
		sources[i] = random.Int32N(40)
	}
	for _, k := range kernel.Available() {
		widths := k.RowWidths()
		s := NewSearcher(g, k, widths[len(widths)-1], both)
		for n := range s.Width() + 1 {
			compareSearch(t, s, g, sources[:n], 4)
		}
	}
}

func TestSearchRefuses(t *testing.T) {
	t.Parallel()
	g := searchedGraph(t, rand.New(rand.NewPCG(1, 2)), 5, 4)
	for name, test := range map[string]struct {
		sources []int32
		hops    int
	}{
		"too many sources": {make([]int32, 65), 2},
		"unknown source":   {[]int32{1, 5}, 2},
		"negative source":  {[]int32{-1}, 2},
		"negative hops":    {[]int32{1}, -1},
		"too many hops":    {[]int32{1}, 15},
	} {
		t.Run(name, func(t *testing.T) {
			s := NewSearcher(g, kernel.Available()[0], 1, both)
			if err := s.Search(test.sources, test.hops); err == nil {
				t.Fatal("no error")
			}
			compareSearch(t, s, g, []int32{1, 2}, 3) // nothing is left over
		})
	}
}
