package probability

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/answer/rules"
	"tagnet/model/graph"
)

func TestPresumed(t *testing.T) {
	t.Parallel()
	for _, shares := range []map[int32]float64{{}, {3: .1}, {12: 7.25, 3: 1e-7, 0: 1e21, 2: 1. / 3}} {
		p := OwnShares(.05, shares)
		if diff := cmp.Diff(shares, p.Own()); diff != "" || p.Missing != .05 || p != OwnShares(.05, shares) {
			t.Errorf("%+v (-want +got):\n%s", p, diff)
		}
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
	for _, share := range []float64{0, -1, math.NaN(), math.Inf(1), 1.5} {
		if err := (Presumed{Missing: share}).Check(); err == nil || !strings.Contains(err.Error(), "at most 1") {
			t.Errorf("a share of %g: error %v", share, err)
		}
		if err := OwnShares(1, map[int32]float64{1: share}).Check(); (err == nil) != (share == 1.5) {
			t.Errorf("a relation's share of %g: error %v", share, err)
		}
	}
}

// TestOwnShares checks what the probabilities of the candidates of relations add up to, where half of the facts were
// drawn to be labeled.
func TestOwnShares(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 1000, 50, 6000, 1)
	facts := [5]float64{}
	w.labeled = slices.DeleteFunc(w.labeled, func(l Labeled) bool { return l.ofItself() })
	for _, l := range w.labeled {
		facts[l.Relation]++
	}
	w.labeled = slices.DeleteFunc(w.labeled, func(l Labeled) bool { return l.Head%2 == 0 && l.Relation != 3 })
	drawn, labeled := [5]float64{}, [5]float64{} // relation 3 has too few for a claim
	for _, l := range w.labeled {
		drawn[l.Relation]++
		if l.within(10) && l.Relation != 3 {
			labeled[l.Relation]++
		}
	}
	m := w.fit(t, .5)
	passing := (labeled[0] + labeled[1] + labeled[2]) / (drawn[0] + drawn[1] + drawn[2] + drawn[3])
	for name, c := range map[string]struct {
		own   map[int32]float64
		plain []int32
	}{
		"none":                          {nil, []int32{0, 1, 2, 3}},
		"one":                           {map[int32]float64{1: .1}, []int32{0, 2, 3}},
		"more than its facts, and few":  {map[int32]float64{0: 1.1, 2: .4}, []int32{1, 3}},
		"all that have observations":    {map[int32]float64{0: .01, 1: .2, 2: .001}, nil},
		"another share than the common": {map[int32]float64{0: .05}, []int32{1, 2, 3}},
	} {
		e, err := m.Estimator(w.around, OwnShares(.05, c.own))
		if err != nil {
			t.Fatal(err)
		}
		sums := [5]float64{}
		for i := range w.candidates {
			if o := &w.candidates[i]; m.Sample.weight(w.around, o) > 0 {
				sums[o.Relation] += e.Estimate(o).Probability / .5
			}
		}
		check := func(what any, got, want float64) {
			if !(math.Abs(got-want) <= 1e-6*want) {
				t.Errorf("%s: the sum of %v is %g, want %g", name, what, got, want)
			}
		}
		for r, share := range c.own {
			passing := passing
			if labeled[r] >= minLabeled {
				passing = labeled[r] / drawn[r]
			}
			check(r, sums[r], share*facts[r]*passing)
		}
		var sum, of, kept, all float64
		for _, r := range c.plain {
			sum, of, kept, all = sum+sums[r], of+facts[r], kept+labeled[r], all+drawn[r]
		}
		if all > 0 {
			check("the others", sum, .05*of*kept/all)
		}
		if text := e.Text(); !strings.Contains(text, "5.0% of the facts") || strings.Contains(text, "own share") != (len(c.own) > 0) {
			t.Errorf("%s: %s", name, text)
		}
		if e.Presumed() != OwnShares(.05, c.own) {
			t.Errorf("%s: presumed are %+v", name, e.Presumed())
		}
	}
	for r, what := range map[int32]string{3: `relation "3" has too few facts`, 4: `relation "4" has too few facts`} {
		_, err := m.Estimator(w.around, OwnShares(.05, map[int32]float64{r: .1}))
		if untold := (*UntoldError)(nil); !errors.As(err, &untold) || untold.Relation != r || !strings.Contains(err.Error(), what) {
			t.Errorf("a share of relation %d: error %v", r, err)
		}
	}
	m.Relations[1].Unlabeled = make([]int, 2)
	if _, err := m.Estimator(w.around, OwnShares(.05, map[int32]float64{1: .1})); !errors.As(err, new(*UntoldError)) {
		t.Errorf("a share of a relation without candidates: error %v", err)
	}
}

func TestMirrored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ p, confidence, want float64 }{
		{.5, 0, .5}, {.5, .4, .5}, {.2, .8, .5}, {.01, .99, .5}, {.02, 1, math.Sqrt(99/49.) / (1 + math.Sqrt(99/49.))}, {.99, 1, .99}, {.98, 1, .98585},
	} {
		if got := mirrored(c.p, c.confidence); !(math.Abs(got-c.want) <= 1e-5) {
			t.Errorf("%g with a mirror of %g is %g, want %g", c.p, c.confidence, got, c.want)
		}
	}
	w := newWorld(t, 1000, 50, 4000, 1)
	m := w.fit(t, 1)
	o := w.candidates[0]
	o.Fact = graph.Fact{Head: w.labeled[500].Tail, Relation: 1, Tail: w.labeled[500].Head}
	for _, c := range []struct {
		presumed Presumed
		byMirror float64
	}{
		{Presumed{Missing: .05, Guessed: true}, .8}, {Presumed{Missing: .05}, .4}, {Presumed{Missing: .2}, 1},
		{OwnShares(.05, map[int32]float64{1: .1}), .8}, {Presumed{Missing: .05, Guessed: true, Shares: OwnShares(.05, map[int32]float64{0: .1}).Shares}, .8},
	} {
		w.around.mirrors[1] = nil
		e, err := m.Estimator(w.around, c.presumed)
		if err != nil {
			t.Fatal(err)
		}
		before := e.Estimate(&o)
		w.around.mirrors[1] = []rules.Mirror{{Relation: 1, Other: w.labeled[500].Relation, Support: 80, Facts: 100, OtherFacts: 90}}
		got := e.Estimate(&o)
		if !(math.Abs(got.Probability-mirrored(before.Probability, c.byMirror)) <= 1e-12) || got.Probability == before.Probability ||
			got.LogOdds != before.LogOdds {
			t.Errorf("%+v: %+v, %+v without the mirror", c.presumed, got, before)
		}
	}
}

// TestMirrorLacksTheFact compares the probability by each fact's mirror with that in a graph from which
// it was removed.
func TestMirrorLacksTheFact(t *testing.T) {
	t.Parallel()
	var facts []graph.Fact // relation 0 is symmetric, 1 and 2 are inverses, each with some mirrors missing
	for i := range int32(18) {
		facts = append(facts, graph.Fact{Head: i, Tail: i + 20}, graph.Fact{Head: i, Relation: 1, Tail: i + 21})
		if i > 1 {
			facts = append(facts, graph.Fact{Head: i + 20, Tail: i})
		}
		if i < 14 {
			facts = append(facts, graph.Fact{Head: i + 21, Relation: 2, Tail: i})
		}
	}
	s := NewSurroundings(newGraph(t, 40, 3, facts))
	found := map[float64]bool{}
	for i, f := range facts {
		without := NewSurroundings(newGraph(t, 40, 3, slices.Delete(slices.Clone(facts), i, i+1)))
		for _, guessed := range []bool{true, false} {
			want := without.mirror(f, .05, guessed)
			found[want] = true
			if got := s.mirror(f, .05, guessed); got != want {
				t.Errorf("%v, guessed %t: probability %g, without the fact %g", f, guessed, got, want)
			}
		}
	}
	for _, want := range []float64{0, 30. / 33, 13. / 17, 13. / 18, .05 * 30 / 3, .05 * 13 / 5, .05 * 13} {
		if !found[want] {
			t.Errorf("%v found, not %v", found, want)
		}
	}
	if got := s.mirror(graph.Fact{Head: 35, Relation: 2, Tail: 15}, .05, true); got != 0 {
		t.Errorf("probability %g of a fact without a mirror", got)
	}
	for guessed, want := range map[bool]float64{true: 32. / 34, false: .05 * 32 / 2} {
		if got := s.mirror(graph.Fact{Head: 20, Tail: 0}, .05, guessed); got != want {
			t.Errorf("probability %g of a fact that is missing, guessed %t, want %g", got, guessed, want)
		}
	}
}

// TestRivals has relations with one tail, with one head, and with one of both, for 30 heads each.
func TestRivals(t *testing.T) {
	t.Parallel()
	var facts []graph.Fact
	for i := range int32(30) {
		facts = append(facts, graph.Fact{Head: i, Tail: 50 + i%2}, graph.Fact{Head: 50 + i%2, Relation: 1, Tail: i},
			graph.Fact{Head: i, Relation: 2, Tail: 60 + i})
	}
	e := &Estimator{model: &Model{Sample: Sample{Relations: 4}}, around: NewSurroundings(newGraph(t, 100, 4, facts))}
	query := func(source, relation int32) graph.Query {
		return graph.Query{Source: source, Relation: relation, Answer: graph.None}
	}
	for _, c := range []struct {
		f    graph.Fact
		p    float64
		want []graph.Query
	}{
		{graph.Fact{Head: 40, Tail: 50}, .1, []graph.Query{query(40, 0)}},
		{graph.Fact{Head: 40, Tail: 50}, .0999, nil},
		{graph.Fact{Head: 3, Tail: 50}, .9, nil}, // it has another tail
		{graph.Fact{Head: 50, Relation: 1, Tail: 40}, .5, []graph.Query{query(40, 5)}},
		{graph.Fact{Head: 40, Relation: 2, Tail: 95}, .5, []graph.Query{query(40, 2), query(95, 6)}},
		{graph.Fact{Head: 4, Relation: 2, Tail: 95}, .5, []graph.Query{query(95, 6)}},
		{graph.Fact{Head: 40, Relation: 2, Tail: 61}, .5, []graph.Query{query(40, 2)}},
		{graph.Fact{Head: 4, Relation: 2, Tail: 64}, .99, nil}, // known
		{graph.Fact{Head: 40, Relation: 3, Tail: 61}, .5, nil},
	} {
		if got := e.Rivals(c.f, c.p); !slices.Equal(got, c.want) {
			t.Errorf("rivals of %v with probability %g are %v, want %v", c.f, c.p, got, c.want)
		}
	}
}
