package pretrained_test

import (
	"bufio"
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer/ranking"
	"tagnet/model/engine/kernel"
	"tagnet/model/graph"
	"tagnet/model/internal/spec/golden"
	"tagnet/model/weights/parameters"
)

// dataset is a graph with facts that are queried, by ids.
type dataset struct {
	graph   *graph.Graph
	queried []graph.Fact
	// known are the answers of (source, relation, ?) in all files, ascending.
	known map[[2]int32][]int32
}

// read reads a folder of the data sets: the graph from its train.txt, what is queried from other files. Without the
// folder the test is skipped.
func read(t testing.TB, folder string, queried ...string) *dataset {
	t.Helper()
	folder = filepath.Join(golden.Data(t), folder)
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no data set (TAGNET_DATA names their folder): %v", err)
	}
	entities, relations := map[string]int32{}, map[string]int32{}
	id := func(ids map[string]int32, name string) int32 {
		if _, ok := ids[name]; !ok {
			ids[name] = int32(len(ids))
		}
		return ids[name]
	}
	facts := map[string][]graph.Fact{}
	for _, name := range []string{"train.txt", "valid.txt", "test.txt"} {
		file, err := os.Open(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			names := strings.Split(strings.TrimSpace(lines.Text()), "\t")
			facts[name] = append(facts[name], graph.Fact{Head: id(entities, names[0]), Relation: id(relations, names[1]), Tail: id(entities, names[2])})
		}
	}
	g, err := graph.New(len(entities), len(relations), facts["train.txt"])
	if err != nil {
		t.Fatal(err)
	}
	d := &dataset{graph: g, known: map[[2]int32][]int32{}}
	for name, list := range facts {
		if slices.Contains(queried, name) {
			d.queried = append(d.queried, list...)
		}
		for _, f := range list {
			tails, heads := [2]int32{f.Head, f.Relation}, [2]int32{f.Tail, g.Inverse(f.Relation)}
			d.known[tails], d.known[heads] = append(d.known[tails], f.Tail), append(d.known[heads], f.Head)
		}
	}
	for _, known := range d.known {
		slices.Sort(known)
	}
	return d
}

// query is a query with an answer.
type query struct{ base, source, relation, answer int32 }

// queries returns those of both directions, in the order in which they share most.
func (d *dataset) queries() (list []query) {
	for _, f := range d.queried {
		list = append(list, query{f.Relation, f.Head, f.Relation, f.Tail}, query{f.Relation, f.Tail, d.graph.Inverse(f.Relation), f.Head})
	}
	slices.SortFunc(list, func(a, b query) int {
		return cmp.Or(cmp.Compare(a.base, b.base), cmp.Compare(a.source, b.source), cmp.Compare(a.relation, b.relation), cmp.Compare(a.answer, b.answer))
	})
	return list
}

// evaluate returns the metrics of the queries.
func (d *dataset) evaluate(t testing.TB, p *parameters.Set[float32]) metrics.Metrics {
	t.Helper()
	k, err := kernel.Named("auto")
	if err != nil {
		t.Fatal(err)
	}
	w := scorer(t, p, d.graph, nil, k).Worker()
	var scores []float32
	var ranks ranking.Accumulator
	last := query{base: -1}
	for _, q := range d.queries() {
		if q.base != last.base || q.source != last.source || q.relation != last.relation {
			scores = scoresOf(t, w, d.graph, q.source, q.relation)
		}
		ranks.Add(ranking.Filtered(scores, q.answer, d.known[[2]int32{q.source, q.relation}]))
		last = q
	}
	return ranks.Pessimistic.Metrics()
}

// TestPublishedMetrics compares with the metrics that the authors publish for their weights, and with those of an
// independent implementation where they publish none. Of the inductive splits the graph is that of inference, and
// queried are its validation and test facts together. The weights were trained on their facts, but not on those of the
// last three graphs.
func TestPublishedMetrics(t *testing.T) {
	inductive, transductive := []string{"valid.txt", "test.txt"}, []string{"test.txt"}
	for _, c := range []struct {
		folder, weights string
		queried         []string
		mrr, hits10     float64
	}{
		{"inductive/fb237_v1_ind", "ultra_3g.pth", inductive, .486, .657},
		{"inductive/WN18RR_v1_ind", "ultra_3g.pth", inductive, .593, .779},
		{"inductive/fb237_v1_ind", "ultra_4g.pth", inductive, .5040, .6679},
		{"inductive/WN18RR_v1_ind", "ultra_4g.pth", inductive, .6617, .8029},
		{"inductive/WN18RR_v1_ind", "ultra_50g.pth", inductive, .6797, .8029},
		{"umls", "ultra_3g.pth", transductive, .6960, .8956},
		{"kinship", "ultra_3g.pth", transductive, .2054, .3156},
		{"nations", "ultra_3g.pth", transductive, .5424, .9801},
	} {
		t.Run(c.folder+" "+c.weights, func(t *testing.T) {
			got := read(t, c.folder, c.queried...).evaluate(t, golden.Published(t, c.weights))
			t.Logf("MRR %.4f, Hits@10 %.4f", got.MRR, got.Hits10)
			if !(math.Abs(got.MRR-c.mrr) <= .0005 && math.Abs(got.Hits10-c.hits10) <= .0005) {
				t.Errorf("MRR %.4f, Hits@10 %.4f, want %.4f, %.4f", got.MRR, got.Hits10, c.mrr, c.hits10)
			}
		})
	}
}
