package multisource

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/search"
)

func randomGraph(t *testing.T, random *rand.Rand, entities, relations, facts int) *graph.Graph {
	t.Helper()
	list := make([]graph.Fact, facts)
	for i := range list {
		list[i] = graph.Fact{Head: random.Int32N(int32(entities)), Relation: random.Int32N(int32(relations)), Tail: random.Int32N(int32(entities))}
	}
	g, err := graph.New(entities, relations, list)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// TestSearchEqualsSingleSource compares with the search from one source, for every number of
// sources that a word can hold and for sources that stand twice.
func TestSearchEqualsSingleSource(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, 63, 64} {
		for _, hops := range []int{0, 1, 3, 14} {
			t.Run(fmt.Sprintf("%d sources %d hops", n, hops), func(t *testing.T) {
				g := randomGraph(t, random, 80, 3, 90)
				sources := make([]int32, n)
				rows := make([][]uint8, n)
				for i := range sources {
					sources[i] = random.Int32N(80)
					rows[i] = make([]uint8, 80)
				}
				many, one := NewSearcher(g), search.NewSearcher(g)
				want := make([]uint8, 80)
				for range 2 { // a searcher is used again
					if err := many.Search(sources, hops, rows); err != nil {
						t.Fatal(err)
					}
					for i, source := range sources {
						one.Search(source, hops, graph.Removal{}, want)
						if string(rows[i]) != string(want) {
							t.Fatalf("source %d: %v, want %v", source, rows[i], want)
						}
					}
				}
			})
		}
	}
}

func TestSearchRefuses(t *testing.T) {
	g := randomGraph(t, rand.New(rand.NewPCG(1, 2)), 5, 1, 4)
	row := func(n int) [][]uint8 { return [][]uint8{make([]uint8, n)} }
	tests := map[string]struct {
		sources []int32
		hops    int
		rows    [][]uint8
	}{
		"too many sources": {make([]int32, 65), 2, make([][]uint8, 65)},
		"no row":           {[]int32{1}, 2, nil},
		"short row":        {[]int32{1}, 2, row(4)},
		"unknown source":   {[]int32{5}, 2, row(5)},
		"negative source":  {[]int32{-1}, 2, row(5)},
		"negative hops":    {[]int32{1}, -1, row(5)},
		"too many hops":    {[]int32{1}, 255, row(5)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if err := NewSearcher(g).Search(test.sources, test.hops, test.rows); err == nil {
				t.Fatal("no error")
			}
		})
	}
}
