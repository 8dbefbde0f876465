package rules

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph"
	"tagnet/model/graph/synthetic"
)

// random draws a graph of a few entities, loops and parallel relations included.
func random(t *testing.T, seed uint64, entities, relations, facts int) *graph.Graph {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	drawn := make([]graph.Fact, facts)
	for i := range drawn {
		drawn[i] = graph.Fact{Head: rng.Int32N(int32(entities)), Relation: rng.Int32N(int32(relations)), Tail: rng.Int32N(int32(entities))}
	}
	g, err := graph.New(entities, relations, drawn)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// naive counts a rule by trying all paths.
func naive(g *graph.Graph, relation int32, body []int32) Rule {
	pairs := map[[2]int32]bool{}
	var extend func(path []int32)
	extend = func(path []int32) {
		last := path[len(path)-1]
		if len(path) > len(body) {
			pairs[[2]int32{path[0], last}] = true
			return
		}
	entities:
		for o := range int32(g.Entities) {
			for _, p := range path {
				if p == o {
					continue entities
				}
			}
			if g.Has(last, body[len(path)-1], o) {
				extend(append(path, o))
			}
		}
	}
	for x := range int32(g.Entities) {
		extend([]int32{x})
	}
	rule := Rule{Relation: relation, Body: body, Pairs: len(pairs), Every: 1}
	for pair := range pairs {
		answered := false
		for o := range int32(g.Entities) {
			answered = answered || o != pair[0] && g.Has(pair[0], relation, o)
		}
		if answered {
			rule.Cases++
		}
		if g.Has(pair[0], relation, pair[1]) {
			rule.Support++
		}
	}
	return rule
}

// naively returns the rules of one and two steps.
func naively(g *graph.Graph) (list []Rule) {
	facts := newIndex(g).facts
	for r := range int32(g.BaseRelations) {
		var bodies [][]int32
		for a := range int32(g.RelationCount()) {
			if a != r {
				bodies = append(bodies, []int32{a})
			}
			for b := range int32(g.RelationCount()) {
				bodies = append(bodies, []int32{a, b})
			}
		}
		for _, body := range bodies {
			if rule := naive(g, r, body); rule.Support >= leastSupport(facts[r]) && rule.Confidence() >= leastConfidence {
				list = append(list, rule)
			}
		}
	}
	return list
}

func mined(t *testing.T, g *graph.Graph, threads int) *Rules {
	t.Helper()
	r, err := Mine(t.Context(), g, threads, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMineAgreesWithItsDefinition compares the rules of small graphs with those that a naive program finds.
func TestMineAgreesWithItsDefinition(t *testing.T) {
	t.Parallel()
	found := 0
	for seed := range uint64(12) {
		g := random(t, seed, 5+int(seed), 1+int(seed%4), 20+20*int(seed))
		switch {
		case seed%4 == 0:
			g = random(t, seed, 20, 1, 200)
		case seed == 1: // a hub, from which few paths of two steps begin with relation 1
			facts := []graph.Fact{{Head: 0, Relation: 1, Tail: 100}}
			for i := range int32(60) {
				facts = append(facts, graph.Fact{Head: 0, Tail: 100 + i}, graph.Fact{Head: 100, Relation: 1 - i/50, Tail: 100 + i - i%10})
			}
			g = made(t, 2, facts)
		}
		byBody := cmp.Transformer("byBody", func(list []Rule) map[string]Rule {
			m := map[string]Rule{}
			for _, rule := range list {
				m[fmt.Sprint(rule.Relation, rule.Body)] = rule
			}
			return m
		})
		var short []Rule
		for _, rule := range mined(t, g, 2).List {
			if len(rule.Body) < 3 {
				short = append(short, rule)
				continue
			}
			found++
			want := naive(g, rule.Relation, rule.Body)
			want.Pairs = want.Cases
			if diff := cmp.Diff(want, rule); diff != "" {
				t.Errorf("seed %d (-want +got):\n%s", seed, diff)
			}
		}
		if diff := cmp.Diff(naively(g), short, byBody); diff != "" {
			t.Errorf("seed %d (-want +got):\n%s", seed, diff)
		}
	}
	if found < 20 {
		t.Errorf("%d rules of three steps", found)
	}
}

// TestFewHeadsAreAllCounted has a rule of three steps for more heads than are drawn.
func TestFewHeadsAreAllCounted(t *testing.T) {
	t.Parallel()
	var facts []graph.Fact
	for i := range int32(3 * sampleHeads) {
		for step := range int32(3) {
			facts = append(facts, graph.Fact{Head: 4*i + step, Relation: 1 + step, Tail: 4*i + step + 1})
		}
		tail := 4*i + 3
		if i%10 == 0 {
			tail -= 2
		}
		facts = append(facts, graph.Fact{Head: 4 * i, Tail: tail})
	}
	g, err := graph.New(12*sampleHeads, 4, facts)
	if err != nil {
		t.Fatal(err)
	}
	want := naive(g, 0, []int32{1, 2, 3})
	want.Pairs = want.Cases
	if diff := cmp.Diff([]Rule{naive(g, 0, []int32{1}), want}, mined(t, g, 1).Of(0)); diff != "" || want.Support != 270 {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
}

// TestEveryNumberOfThreadsFindsTheSame holds that the bytes of a file depend on the graph alone, and that blocks of
// relations leave out none.
func TestEveryNumberOfThreadsFindsTheSame(t *testing.T) {
	t.Parallel()
	g := random(t, 1, 15, 4, 400)
	var want []byte
	for _, threads := range []int{1, 2, 5} {
		text, err := mined(t, g, threads).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if want = append(want, text...); !bytes.Equal(want[:len(text)], text) {
			t.Errorf("%d threads find other rules", threads)
		}
	}
	if len(mined(t, g, 1).List) < 100 {
		t.Fatal("there are few rules")
	}
	c, whole := newCounter(newIndex(g), 3), newCounter(newIndex(g), 8)
	for first := range int32(9) {
		if diff := cmp.Diff(whole.rules(first, 1), c.rules(first, 1)); diff != "" {
			t.Errorf("first relation %d, blocks of 3 (-want +got):\n%s", first, diff)
		}
	}
}

// TestManyRelations holds that counting costs what the facts cost, not what all pairs of relations that occur and all
// relations would: a rule is made only where a body has support.
func TestManyRelations(t *testing.T) {
	c := newCounter(newIndex(random(t, 1, 40, 2000, 800)), 4000)
	made := testing.AllocsPerRun(1, func() {
		for first := range int32(100) {
			c.rules(first, 1)
		}
	})
	if made > 2000 {
		t.Errorf("%v allocations", made)
	}
}

// TestSampledHeads counts one in two heads: the counts are about half.
func TestSampledHeads(t *testing.T) {
	t.Parallel()
	g := random(t, 3, 150, 2, 9000)
	c, support, half := newCounter(newIndex(g), 4), 0, 0
	for first := range int32(4) {
		for _, rule := range c.rules(first, 1) {
			support += rule.Support
		}
		for _, rule := range c.rules(first, 2) {
			if half += rule.Support; rule.Every != 2 {
				t.Errorf("%v is of one in two heads", rule)
			}
		}
	}
	if !(float64(half) > .4*float64(support) && float64(half) < .6*float64(support)) {
		t.Errorf("support is %d of half of the heads, %d of all", half, support)
	}
}

// TestCountGivesUp counts a body that has more paths than are followed, and one that is too seldom right: no number is
// better than a wrong one.
func TestCountGivesUp(t *testing.T) {
	t.Parallel()
	x := newIndex(random(t, 1, 40, 2, 3000))
	for least, body := range map[float64][]int32{0: {0, 0, 0}, .99: {1}} {
		if got := x.count(x.heads[0], 0, body, least); got != (tally{}) {
			t.Errorf("body %v of confidence %v and more is counted: %+v", body, least, got)
		}
	}
	if got := x.count(x.heads[0], 0, []int32{1}, 0); got.with != 40 || got.cases < 900 {
		t.Errorf("counted are %+v", got)
	}
}

func TestMineIsCanceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	last := 0
	_, err := Mine(ctx, random(t, 1, 60, 5, 900), 1, func(done, total int) {
		if last = done; done > 3 || total != 16 {
			t.Errorf("%d of %d parts are done, want 3 of 16 at most", done, total)
		}
		if done == 3 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || last != 3 {
		t.Errorf("error %v after %d parts", err, last)
	}
}

// BenchmarkMine finds the rules of a made graph of about 20,000 facts.
func BenchmarkMine(b *testing.B) {
	o := synthetic.Default
	o.Entities, o.Relations, o.Degree = synthetic.Range{Least: 3000, Most: 3000}, synthetic.Range{Least: 40, Most: 40}, synthetic.Range{Least: 8, Most: 8}
	s, err := synthetic.New(3, o)
	if err != nil {
		b.Fatal(err)
	}
	g, err := graph.New(s.Entities, s.Relations, s.Facts)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := Mine(b.Context(), g, 1, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(r.List)), "rules")
	}
	b.ReportMetric(float64(len(s.Facts)), "facts")
}
