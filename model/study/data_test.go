package study

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"tagnet/formats/input/triples"
	"tagnet/model/graph"
)

// dataset reads the training facts of a dataset beside the project.
func dataset(t testing.TB, name string) (*graph.Graph, []graph.Fact) {
	t.Helper()
	const data = "../../../shared/data"
	if _, err := os.Stat(data); err != nil {
		t.Skipf("no datasets in %s", data)
	}
	file, err := os.Open(filepath.Join(data, name, "train.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	entities, relations := map[string]int32{}, map[string]int32{}
	id := func(ids map[string]int32, name []byte) int32 {
		if _, ok := ids[string(name)]; !ok {
			ids[string(name)] = int32(len(ids))
		}
		return ids[string(name)]
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

// bruteForce searches a query's graph with a queue and counts its edges one by one, fast enough for real data.
type bruteForce struct {
	graph *graph.Graph
	level []uint8 // of each entity, or unreachable
	queue []int32
}

const unreachable = 31

func (a *bruteForce) levels(hops int, q graph.Query) Levels {
	for o := range a.level {
		a.level[o] = unreachable
	}
	a.level[q.Source] = 0
	a.queue = append(a.queue[:0], q.Source)
	for i := 0; i < len(a.queue) && int(a.level[a.queue[i]]) < hops; i++ {
		u := a.queue[i]
		neighbors, relations := a.graph.In(u)
		for j, o := range neighbors {
			if a.level[o] == unreachable && !a.graph.Removes(q, o, relations[j], u) {
				a.level[o] = a.level[u] + 1
				a.queue = append(a.queue, o)
			}
		}
	}
	var edges [unreachable + 1][unreachable + 1]int64 // by the levels of receiver and sender
	for o := range int32(a.graph.Entities) {
		senders, relations := a.graph.In(o)
		row := &edges[a.level[o]]
		if !q.Touches(o) {
			for _, u := range senders {
				row[a.level[u]]++
			}
			continue
		}
		for i, u := range senders {
			if !a.graph.Removes(q, u, relations[i], o) {
				row[a.level[u]]++
			}
		}
	}
	var l Levels
	for to := range edges {
		for from, n := range edges[to] {
			l.Edges += n
			switch {
			case n == 0 || to == unreachable || from == unreachable:
			case to == from:
				l.Within[to] += n
			case to > from:
				l.Between[to] += n
			}
		}
	}
	return l
}

// TestTrainingQueriesOfRealData compares with a search and a count of each query's graph: every
// query of the small inductive graphs, and a sample of the others, of FB15k-237 a thousand.
// TAGNET_TEST_ALL=1 takes every query of all inductive graphs, which takes minutes.
func TestTrainingQueriesOfRealData(t *testing.T) {
	t.Parallel()
	const hops, every = 6, -1
	for name, sample := range map[string]int{
		"fb15k-237": 1000, "wn18rr": 300,
		"inductive/fb237_v1": every, "inductive/fb237_v2": 300, "inductive/fb237_v3": 300, "inductive/fb237_v4": 300,
		"inductive/fb237_v1_ind": every, "inductive/fb237_v2_ind": every, "inductive/fb237_v3_ind": 300, "inductive/fb237_v4_ind": 300,
		"inductive/WN18RR_v1": every, "inductive/WN18RR_v2": 300, "inductive/WN18RR_v3": 300, "inductive/WN18RR_v4": 300,
		"inductive/WN18RR_v1_ind": every, "inductive/WN18RR_v2_ind": every, "inductive/WN18RR_v3_ind": 300, "inductive/WN18RR_v4_ind": 300,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, facts := dataset(t, name)
			queries := append(queriesOf(g, facts, false), queriesOf(g, facts, true)...)
			if os.Getenv("TAGNET_TEST_ALL") != "" && filepath.Dir(name) == "inductive" {
				sample = every
			}
			if sample != every {
				random := rand.New(rand.NewPCG(1, 2))
				random.Shuffle(len(queries), func(i, j int) { queries[i], queries[j] = queries[j], queries[i] })
				queries = queries[:sample]
			}
			// Queries of one source follow each other, as in the stage.
			slices.SortStableFunc(queries, func(a, b graph.Query) int { return cmp.Compare(a.Source, b.Source) })
			corrector, searcher, distances := NewCorrector(g), graph.NewSearcher(g), make([]uint8, g.Entities)
			brute := bruteForce{graph: g, level: make([]uint8, g.Entities)}
			for i, q := range queries {
				if i == 0 || queries[i-1].Source != q.Source {
					searcher.Search(q.Source, hops, graph.Query{}, distances)
					corrector.Reset(q.Source, distances, hops, CountLevels(g, distances, hops))
				}
				if got, want := corrector.Without(q), brute.levels(hops, q); got != want {
					t.Fatalf("%+v:\n%+v, want\n%+v", q, got, want)
				}
			}
		})
	}
}

// BenchmarkTrainingQueries corrects all training queries of a source in each iteration, and for some of
// them searches and counts the query's graph instead.
func BenchmarkTrainingQueries(b *testing.B) {
	const hops, some = 6, 3
	for _, name := range []string{"fb15k-237", "wn18rr"} {
		g, facts := dataset(b, name)
		for _, oneHop := range []bool{false, true} {
			bySource := make([][]graph.Query, g.Entities)
			for _, r := range queriesOf(g, facts, oneHop) {
				bySource[r.Source] = append(bySource[r.Source], r)
			}
			b.Run(fmt.Sprintf("%s/one_hop=%v", name, oneHop), func(b *testing.B) {
				searcher, corrector, distances := graph.NewSearcher(g), NewCorrector(g), make([]uint8, g.Entities)
				var correcting, searching time.Duration
				corrected, searched := 0, 0
				random := rand.New(rand.NewPCG(1, 2))
				for range b.N {
					queries := bySource[random.IntN(g.Entities)] // every entity has a fact
					searcher.Search(queries[0].Source, hops, graph.Query{}, distances)
					whole := CountLevels(g, distances, hops)
					begin := time.Now()
					corrector.Reset(queries[0].Source, distances, hops, whole)
					for _, q := range queries {
						corrector.Without(q)
					}
					correcting += time.Since(begin)
					corrected += len(queries)
					begin = time.Now()
					for range some {
						q := queries[random.IntN(len(queries))]
						searcher.Search(q.Source, hops, q, distances)
						CountLevels(g, distances, hops)
					}
					searching += time.Since(begin)
					searched += some
				}
				correct, brute := float64(correcting.Nanoseconds())/float64(corrected), float64(searching.Nanoseconds())/float64(searched)
				b.ReportMetric(correct, "ns/corrected")
				b.ReportMetric(brute, "ns/searched")
				b.ReportMetric(brute/correct, "ratio")
			})
		}
	}
}
