package messages

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"tagnet/formats/triples"
	"tagnet/model/graph"
	"tagnet/model/search"
)

// dataset reads the training facts of a dataset that lies beside the project.
func dataset(t *testing.T, name string) (*graph.Graph, []graph.Fact) {
	t.Helper()
	const data = "../../../shared/data"
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the datasets are not at %s", data)
	}
	file, err := os.Open(filepath.Join(data, name, "train.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	entities, relations := map[string]int32{}, map[string]int32{}
	id := func(ids map[string]int32, name string) int32 {
		if _, ok := ids[name]; !ok {
			ids[name] = int32(len(ids))
		}
		return ids[name]
	}
	var facts []graph.Fact
	each := func(_ int, f triples.Triple) error {
		facts = append(facts, graph.Fact{Head: id(entities, f.Head), Relation: id(relations, f.Relation), Tail: id(entities, f.Tail)})
		return nil
	}
	if err := triples.Read(name, file, each, func(bad triples.BadLine) error { return bad }); err != nil {
		t.Fatal(err)
	}
	g, err := graph.New(len(entities), len(relations), facts)
	if err != nil {
		t.Fatal(err)
	}
	return g, facts
}

// anew searches a query's graph and counts its edges, with a queue and no other code than the
// graph's: plain, but for graphs of some size.
type anew struct {
	graph *graph.Graph
	level []int // -1 where it is unreached
	queue []int32
}

func (a *anew) levels(hops int, removal graph.Removal) Levels {
	for o := range a.level {
		a.level[o] = -1
	}
	a.level[removal.Source] = 0
	a.queue = append(a.queue[:0], removal.Source)
	for i := 0; i < len(a.queue); i++ {
		u := a.queue[i]
		neighbours, relations := a.graph.In(u)
		for j, o := range neighbours {
			if a.level[o] < 0 && a.level[u] < hops && !removal.Removes(o, relations[j], u) {
				a.level[o] = a.level[u] + 1
				a.queue = append(a.queue, o)
			}
		}
	}
	l := Levels{Edges: a.graph.Edges()}
	for o := range int32(a.graph.Entities) {
		senders, relations := a.graph.In(o)
		for i, u := range senders {
			switch {
			case removal.Touches(o) && removal.Removes(u, relations[i], o):
				l.Edges--
			case a.level[o] < 0 || a.level[u] < 0:
			case a.level[o] == a.level[u]:
				l.Within[a.level[o]]++
			case a.level[u] < a.level[o]:
				l.Between[a.level[o]]++
			}
		}
	}
	return l
}

// TestTrainingQueriesOfRealData compares with a search and a count of each query's graph: every
// query of the small inductive graphs, and a sample of the others. TAGNET_TEST_ALL=1 takes every
// query of all of the inductive graphs, which takes minutes.
func TestTrainingQueriesOfRealData(t *testing.T) {
	const hops, sample = 6, 1000
	tests := []struct {
		name  string
		every bool
	}{
		{"fb15k-237", false}, {"wn18rr", false},
		{"inductive/fb237_v1", true}, {"inductive/fb237_v1_ind", true}, {"inductive/fb237_v2", false}, {"inductive/fb237_v2_ind", true},
		{"inductive/fb237_v3", false}, {"inductive/fb237_v3_ind", false}, {"inductive/fb237_v4", false}, {"inductive/fb237_v4_ind", false},
		{"inductive/WN18RR_v1", true}, {"inductive/WN18RR_v1_ind", true}, {"inductive/WN18RR_v2", false}, {"inductive/WN18RR_v2_ind", true},
		{"inductive/WN18RR_v3", false}, {"inductive/WN18RR_v3_ind", true}, {"inductive/WN18RR_v4", true}, {"inductive/WN18RR_v4_ind", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			g, facts := dataset(t, test.name)
			corrector, searcher, distances := NewCorrector(g), search.NewSearcher(g), make([]uint8, g.Entities)
			brute := anew{graph: g, level: make([]int, g.Entities)}
			for _, oneHop := range []bool{false, true} {
				removals := removalsOf(g, facts, oneHop)
				if !test.every && (os.Getenv("TAGNET_TEST_ALL") == "" || g.Edges() > 100_000) {
					random := rand.New(rand.NewPCG(1, 2))
					random.Shuffle(len(removals), func(i, j int) { removals[i], removals[j] = removals[j], removals[i] })
					removals = removals[:sample]
				}
				for _, removal := range removals {
					searcher.Search(removal.Source, hops, graph.Removal{}, distances)
					corrector.Of(removal.Source, distances, hops, CountLevels(g, distances, hops))
					if got, want := corrector.Without(removal), brute.levels(hops, removal); got != want {
						t.Fatalf("%+v:\n%+v, want\n%+v", removal, got, want)
					}
				}
			}
		})
	}
}
