package multisource

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"tagnet/model/graph"
	"tagnet/model/kernel"
	"tagnet/model/messages"
	"tagnet/model/search"
)

const data = "../../../shared/data"

// readGraph reads train.txt of a data set; false where the data are not there. The entities'
// order is that of their names, as in a workspace.
func readGraph(b *testing.B, name string) (*graph.Graph, bool) {
	text, err := os.ReadFile(filepath.Join(data, name, "train.txt"))
	if err != nil {
		b.Logf("%s is not there: %v", name, err)
		return nil, false
	}
	facts, entities, relations := parse(string(text))
	g, err := graph.New(entities, relations, facts)
	if err != nil {
		b.Fatal(err)
	}
	return g, true
}

func parse(text string) (facts []graph.Fact, entities, relations int) {
	var lines [][]string
	names, relationNames := map[string]bool{}, map[string]bool{}
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		lines = append(lines, fields)
		names[fields[0]], names[fields[2]], relationNames[fields[1]] = true, true, true
	}
	ids, relationIDs := numbered(names), numbered(relationNames)
	for _, f := range lines {
		facts = append(facts, graph.Fact{Head: ids[f[0]], Relation: relationIDs[f[1]], Tail: ids[f[2]]})
	}
	return facts, len(ids), len(relationIDs)
}

// numbered gives names their places in order.
func numbered(names map[string]bool) map[string]int32 {
	ids := map[string]int32{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		ids[name] = int32(len(ids))
	}
	return ids
}

// BenchmarkAgainstPlain takes turns, in one thread, between a search from as many sources as
// the variant takes at once and searches from some of these alone; it reports the time of a
// source in each, and how many times faster the first is. Levels are counted edge by edge for
// the search alone.
func BenchmarkAgainstPlain(b *testing.B) {
	for _, name := range []string{"fb15k-237", "wn18rr"} {
		g, ok := readGraph(b, name)
		if !ok {
			continue
		}
		for _, k := range kernel.Available() {
			widths := k.Widths()
			words := widths[len(widths)-1]
			for what, gather := range map[string]Gather{"distances": {Distances: true}, "levels": {Levels: true}} {
				b.Run(name+"/"+what+"/"+k.Name(), func(b *testing.B) { againstPlain(b, g, k, words, gather) })
			}
		}
	}
}

func againstPlain(b *testing.B, g *graph.Graph, k kernel.Kernel, words int, gather Gather) {
	const hops, alone = 6, 32
	random := rand.New(rand.NewPCG(1, 2))
	one, distances := search.NewSearcher(g), make([]uint8, g.Entities)
	s := NewSearcher(g, k, words, gather)
	sources := make([]int32, s.Width())
	var plain, together time.Duration
	for b.Loop() {
		for i := range sources {
			sources[i] = random.Int32N(int32(g.Entities))
		}
		begin := time.Now()
		if err := s.Search(sources, hops); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		for _, source := range sources[:alone] {
			one.Search(source, hops, graph.Removal{}, distances)
			if gather.Levels {
				messages.CountLevels(g, distances, hops)
			}
		}
		together += middle.Sub(begin)
		plain += time.Since(middle)
	}
	perPlain := plain.Seconds() / float64(b.N) / alone
	perSource := together.Seconds() / float64(b.N) / float64(len(sources))
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(1e6*perPlain, "plain-µs/source")
	b.ReportMetric(1e6*perSource, "µs/source")
	b.ReportMetric(perPlain/perSource, "times-faster")
}
