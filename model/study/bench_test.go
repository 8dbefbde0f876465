package study

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tagnet/formats/hop"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
)

const data = "../../../shared/data"

// readData reads a dataset: the graph of train.txt, with entities in the order of their names as in a
// workspace, and the sources of both directions of test.txt. The graph is nil without the dataset.
func readData(b *testing.B, name string) (g *graph.Graph, sources []int32) {
	var lines [2][][]string
	for i, file := range []string{"train.txt", "test.txt"} {
		text, err := os.ReadFile(filepath.Join(data, name, file))
		if err != nil {
			b.Logf("%s is not measured: %v", name, err)
			return nil, nil
		}
		for line := range strings.Lines(string(text)) {
			lines[i] = append(lines[i], strings.Split(strings.TrimSpace(line), "\t"))
		}
	}
	names, relations := map[string]bool{}, map[string]bool{}
	for _, f := range lines[0] {
		names[f[0]], names[f[2]], relations[f[1]] = true, true, true
	}
	ids, relationIDs := numbered(names), numbered(relations)
	facts := make([]graph.Fact, len(lines[0]))
	for i, f := range lines[0] {
		facts[i] = graph.Fact{Head: ids[f[0]], Relation: relationIDs[f[1]], Tail: ids[f[2]]}
	}
	for _, f := range lines[1] {
		for _, name := range []string{f[0], f[2]} {
			if id, ok := ids[name]; ok {
				sources = append(sources, id)
			}
		}
	}
	slices.Sort(sources)
	g, err := graph.New(len(ids), len(relationIDs), facts)
	if err != nil {
		b.Fatal(err)
	}
	return g, slices.Compact(sources)
}

// numbered returns the index of each name in sorted order.
func numbered(names map[string]bool) map[string]int32 {
	ids := map[string]int32{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		ids[name] = int32(len(ids))
	}
	return ids
}

// BenchmarkAgainstPlain compares, in one thread and in turns, the search from all sources of the test
// split, as many at once as the variant takes, with a plain breadth-first search and with graph.Searcher
// from some of them. It reports the time of a source in each, and the ratios. All produce the same
// results: single searches are followed by packing their distances, or by CountLevels.
func BenchmarkAgainstPlain(b *testing.B) {
	for _, name := range []string{"fb15k-237", "wn18rr"} {
		g, sources := readData(b, name)
		if g == nil {
			continue
		}
		for _, k := range kernel.Available() {
			for _, gather := range []Gather{{Distances: true}, {Levels: true}} {
				what := "distances"
				if gather.Levels {
					what = "levels"
				}
				b.Run(name+"/"+what+"/"+k.Name(), func(b *testing.B) { againstPlain(b, g, sources, k, gather) })
			}
		}
	}
}

func againstPlain(b *testing.B, g *graph.Graph, sources []int32, k kernel.Kernel, gather Gather) {
	const hops, sourcesApart = 6, 20 // one source in 20 is searched alone too
	switching, distances, queue := graph.NewSearcher(g), make([]uint8, g.Entities), make([]int32, 0, g.Entities)
	s := NewSearcher(g, k, Words(k.RowWidths(), g.Entities, len(sources), gather, 1<<30), gather)
	s.visitNeighbors(NewNeighbors(g))
	alone := func(search func(source int32)) time.Duration {
		begin := time.Now()
		for i := 0; i < len(sources); i += sourcesApart {
			search(sources[i])
			if gather.Levels {
				CountLevels(g, distances, hops)
			} else {
				pack(distances)
			}
		}
		return time.Since(begin)
	}
	var together, plain, switched time.Duration
	for b.Loop() {
		begin := time.Now()
		for some := range slices.Chunk(sources, s.Width()) {
			if err := s.Search(some, hops); err != nil {
				b.Fatal(err)
			}
		}
		together += time.Since(begin)
		plain += alone(func(source int32) { queue = searchPlainly(g, source, hops, distances, queue) })
		switched += alone(func(source int32) { switching.Search(source, hops, graph.Query{}, distances) })
	}
	per := func(d time.Duration, sources int) float64 { return 1e6 * d.Seconds() / float64(b.N) / float64(sources) }
	some := (len(sources) + sourcesApart - 1) / sourcesApart
	perSource, perPlain, perSwitching := per(together, len(sources)), per(plain, some), per(switched, some)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(perSource, "µs/source")
	b.ReportMetric(perPlain, "plain-µs/source")
	b.ReportMetric(perPlain/perSource, "times-plain")
	b.ReportMetric(perSwitching, "switching-µs/source")
	b.ReportMetric(perSwitching/perSource, "times-switching")
}

// searchPlainly is a textbook breadth-first search.
func searchPlainly(g *graph.Graph, source int32, hops uint8, distances []uint8, queue []int32) []int32 {
	for o := range distances {
		distances[o] = hop.Unreached
	}
	distances[source] = 0
	queue = append(queue[:0], source)
	for i := 0; i < len(queue); i++ {
		u := queue[i]
		if distances[u] == hops {
			break
		}
		neighbors, _ := g.In(u)
		for _, o := range neighbors {
			if distances[o] == hop.Unreached {
				distances[o] = distances[u] + 1
				queue = append(queue, o)
			}
		}
	}
	return queue
}
