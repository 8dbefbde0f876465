package analyze

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"tagnet/formats/analysis"
	"tagnet/formats/counts"
	"testing"
)

// fact is a line of a text file.
type fact struct{ head, relation, tail string }

// edge leads from one entity to another; reverse is set on a fact's inverse edge.
type edge struct {
	fact
	reverse bool
}

func (e edge) from() string {
	if e.reverse {
		return e.tail
	}
	return e.head
}

func (e edge) to() string {
	if e.reverse {
		return e.head
	}
	return e.tail
}

// plain is a dataset as its texts have it, and counts in the plainest way.
type plain struct {
	splits   map[string][]fact
	edges    []edge // of train.txt
	entities map[string]bool
}

// readPlain reads a folder of texts, with repeats left out.
func readPlain(t *testing.T, folder string) *plain {
	t.Helper()
	p := &plain{splits: map[string][]fact{}, entities: map[string]bool{}}
	for _, split := range []string{"train", "valid", "test"} {
		text, err := os.ReadFile(filepath.Join(folder, split+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		seen := map[fact]bool{}
		for line := range strings.Lines(string(text)) {
			words := strings.Split(strings.TrimRight(line, "\r\n"), "\t")
			f := fact{words[0], words[1], words[2]}
			p.entities[f.head], p.entities[f.tail] = true, true
			if seen[f] {
				continue
			}
			seen[f] = true
			p.splits[split] = append(p.splits[split], f)
			if split == "train" {
				p.edges = append(p.edges, edge{f, false}, edge{f, true})
			}
		}
	}
	return p
}

// hopsFrom are the hops from an entity over edges, of those that are reached.
func hopsFrom(edges []edge, source string) map[string]int {
	reached := map[string]int{source: 0}
	for hop, grown := 1, true; grown; hop++ {
		grown = false
		for _, e := range edges {
			from, ok := reached[e.from()]
			if _, already := reached[e.to()]; ok && from == hop-1 && !already {
				reached[e.to()] = hop
				grown = true
			}
		}
	}
	return reached
}

// compareGraph compares the size and the degrees.
func compareGraph(t *testing.T, p *plain, got analysis.Graph) {
	t.Helper()
	degree := map[string]int64{}
	for _, e := range p.edges {
		degree[e.to()]++
	}
	most := int64(0)
	for o := range p.entities {
		most = max(most, degree[o])
	}
	mean := float64(len(p.splits["train"])) / float64(len(p.entities))
	if got.Entities != int64(len(p.entities)) || got.Facts != int64(len(p.edges)/2) || got.Edges != int64(len(p.edges)) || got.MostEdges != most || got.MeanDegree != mean {
		t.Errorf("%+v, want %d entities, %d edges, most %d, mean %v", got, len(p.entities), len(p.edges), most, mean)
	}
	if len(got.Degrees) == 0 || got.Degrees[len(got.Degrees)-1].To < most {
		t.Errorf("degrees %+v do not go up to %d", got.Degrees, most)
	}
	for _, d := range got.Degrees {
		n := int64(0)
		for o := range p.entities {
			if d.From <= degree[o] && degree[o] <= d.To {
				n++
			}
		}
		if d.Entities != n || d.Share != float64(n)/float64(len(p.entities)) {
			t.Errorf("%+v, want %d entities", d, n)
		}
	}
}

// compareSplit compares the distances, and every count of messages, layer by layer.
func compareSplit(t *testing.T, p *plain, split string, got analysis.Split) {
	t.Helper()
	var queries []edge
	for _, f := range p.splits[split] {
		queries = append(queries, edge{f, false}, edge{f, true})
	}
	bySource := map[string]map[string]int{}
	at := map[string]int64{}
	for _, q := range queries {
		if bySource[q.from()] == nil {
			bySource[q.from()] = hopsFrom(p.edges, q.from())
		}
		hops, reached := bySource[q.from()][q.to()]
		name := fmt.Sprint(hops)
		if !reached || hops > 6 {
			name = "unreached"
		}
		at[name]++
	}
	sum := int64(0)
	for name, d := range got.ByDistance {
		if d.Queries != at[name] || d.Share != float64(at[name])/float64(len(queries)) {
			t.Errorf("%s: %+v at %s, want %d of %d", split, d, name, at[name], len(queries))
		}
		sum += d.Queries
	}
	remove := "none"
	if split == "train" {
		remove = "triple"
	}
	if got.Queries != int64(len(queries)) || sum != got.Queries || got.Remove != remove {
		t.Errorf("%s: %d queries, %d by distance, want %d; removed is %s, want %s", split, got.Queries, sum, len(queries), got.Remove, remove)
	}
	for _, m := range got.Messages {
		for _, l := range m.ByLayer {
			if want := p.count(queries, split == "train", m.Layers, m.Delta, l.Layer); l.LayerSum != want {
				t.Errorf("%s: %+v, want %+v", split, l.LayerSum, want)
			}
		}
	}
}

// count counts the messages of a layer, edge by edge, as model.md defines them.
func (p *plain) count(queries []edge, withoutOwn bool, layers, delta, layer int) counts.LayerSum {
	sum := counts.LayerSum{Layers: layers, Delta: delta, Layer: layer}
	for _, q := range queries {
		edges := p.edges
		if withoutOwn {
			edges = nil
			for _, e := range p.edges {
				if e.fact != q.fact {
					edges = append(edges, e)
				}
			}
		}
		reached := hopsFrom(edges, q.from())
		const never = 1000
		hops := func(entity string) int {
			if d, ok := reached[entity]; ok && d <= layers {
				return d
			}
			return never
		}
		for _, e := range edges {
			from, to := hops(e.from()), hops(e.to())
			listens := to <= layer && layer <= to+delta
			kept := listens && from < to+delta
			empty := from > layer-1
			sum.NBFNet++
			switch {
			case kept && empty:
				sum.Kept++
				sum.KeptEmpty++
			case kept:
				sum.Kept++
			case empty:
				sum.PrunedEmpty++
			default:
				sum.PrunedRedundant++
			}
		}
	}
	return sum
}
