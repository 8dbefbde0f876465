package model_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model"
	"tagnet/model/graph/graphtest"
)

// fitted returns a model of the family with probabilities.
func fitted(t *testing.T, list ...model.Option) *model.Model {
	t.Helper()
	return fittedTo(t, family(), list...)
}

// fittedTo returns a model of facts with probabilities.
func fittedTo(t *testing.T, facts []model.Triple, list ...model.Option) *model.Model {
	t.Helper()
	m, err := model.LoadFacts(t.Context(), model.Facts{Train: facts}, "zero", list...)
	if err != nil {
		t.Fatal(err)
	}
	var done, of []int64
	if err := m.Fit(t.Context(), func(d, o int64) { done, of = append(done, d), append(of, o) }); err != nil {
		t.Fatal(err)
	}
	if len(done) == 0 || !slices.IsSorted(done) || done[len(done)-1] > of[0] || slices.Min(of) != slices.Max(of) {
		t.Errorf("progress %v of %v", done, of)
	}
	return m
}

// TestOneProbability asks for the same facts in every way: they have the same scores, ranks and probabilities. So have
// facts of which one is true at most, those whose mirrors are stated, and those of a relation with a share of its own.
func TestOneProbability(t *testing.T) {
	t.Parallel()
	for name, facts := range map[string][]model.Triple{"family": family(), "traits": graphtest.Traits()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			presumed := []model.Option{model.WithMissing(graphtest.Others)}
			for relation, share := range graphtest.Missing {
				if name == "traits" {
					presumed = append(presumed, model.WithMissingOf(relation, share))
				}
			}
			compareWays(t, facts, fittedTo(t, facts, presumed...))
		})
	}
}

// compareWays compares what is said of all facts in several ways.
func compareWays(t *testing.T, facts []model.Triple, m *model.Model) {
	t.Helper()
	found, err := m.Discover(t.Context(), model.Discovery{})
	if err != nil {
		t.Fatal(err)
	}
	if len(found) < 100 || !slices.IsSortedFunc(found, func(a, b model.ScoredTriple) int { return a.Compare(&b) }) {
		t.Errorf("%d facts, or not in their order", len(found))
	}
	want := map[model.Triple]model.ScoredTriple{}
	for _, f := range found {
		if _, again := want[f.Triple]; again || f.Known || f.Probability == nil {
			t.Errorf("%+v is listed twice, is known, or has no probability", f)
		}
		want[f.Triple] = f
	}
	known, err := m.Score(t.Context(), facts)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range known {
		if !s.Known {
			t.Errorf("%+v is not known", s)
		}
		want[s.Triple] = s
	}
	compare := func(way string, got model.ScoredTriple) {
		t.Helper()
		same, listed := want[got.Triple]
		if !listed {
			return
		}
		if !(math.Abs(*got.Probability-*same.Probability) <= 1e-6) {
			t.Errorf("%s: %v has the probability %v, want %v", way, got.Triple, *got.Probability, want[got.Triple])
		}
		if got.AsTail != same.AsTail || got.AsHead != same.AsHead || got.Known != same.Known {
			t.Errorf("%s: %+v, want %+v", way, got, same)
		}
	}
	queries, compared := everyQuery(m), 0
	answers, err := m.AskAll(t.Context(), queries, 10, model.WithKnown())
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range queries {
		for _, a := range answers[i].List {
			s := model.ScoredTriple{
				Triple: model.Triple{Head: q.Source, Relation: q.Relation, Tail: a.Entity}, Probability: a.Probability, Known: a.Known,
				AsTail: model.Side{Score: a.Score, Rank: a.Rank}, AsHead: model.Side{Score: a.OtherScore, Rank: a.OtherRank},
			}
			if q.Inverse {
				s.Head, s.Tail, s.AsTail, s.AsHead = s.Tail, s.Head, s.AsHead, s.AsTail
			}
			compare("asked", s)
			compared++
		}
	}
	if compared < len(want) {
		t.Errorf("%d answers, of %d facts", compared, len(want))
	}
	for _, f := range []model.Triple{found[0].Triple, found[50].Triple, facts[7]} {
		scored, err := m.Score(t.Context(), []model.Triple{f})
		if err != nil {
			t.Fatal(err)
		}
		compare("scored", scored[0])
		between, err := m.Between(t.Context(), f.Head, f.Tail, 10)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range between {
			compare("between", s)
		}
	}
}

// TestDiscover lists the first facts, those of a relation, and with any number of workers.
func TestDiscover(t *testing.T) {
	t.Parallel()
	m := fitted(t, model.WithWorkers(1))
	all, err := m.Discover(t.Context(), model.Discovery{})
	if err != nil {
		t.Fatal(err)
	}
	few, err := fitted(t, model.WithWorkers(3)).Discover(t.Context(), model.Discovery{Most: 40})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all[:40], few); diff != "" {
		t.Errorf("40 facts (-of all +alone):\n%s", diff)
	}
	one, err := m.Discover(t.Context(), model.Discovery{Relations: []string{"parent_of"}})
	if err != nil {
		t.Fatal(err)
	}
	want := slices.DeleteFunc(slices.Clone(all), func(f model.ScoredTriple) bool { return f.Relation != "parent_of" })
	if diff := cmp.Diff(want, one); diff != "" {
		t.Errorf("facts of a relation (-of all +alone):\n%s", diff)
	}
	unknown := new(model.UnknownNameError)
	_, err = m.Discover(t.Context(), model.Discovery{Relations: []string{"aunt"}})
	if !errors.As(err, &unknown) || unknown.Name != "aunt" {
		t.Errorf("an unknown relation: %v", err)
	}
	if _, err := m.Discover(t.Context(), model.Discovery{Most: -1}); err == nil {
		t.Error("-1 facts: no error")
	}
}

// TestDiscoverTrained trains a model, as Train does.
func TestDiscoverTrained(t *testing.T) {
	t.Parallel()
	c := small()
	c.Epochs = 3
	options := []model.Option{model.WithTraining(c, 5), model.WithMissing(0.1)}
	got, err := model.Discover(t.Context(), family(), model.Discovery{Most: 20}, options...)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Train(t.Context(), model.Facts{Train: family()}, c, 5, nil, model.WithMissing(0.1))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Fit(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	want, err := m.Discover(t.Context(), model.Discovery{Most: 20})
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-Train +Discover):\n%s", err, diff)
	}
}

// TestDiscoverOfFewFacts lists facts without probabilities, by the lower one of both scores.
func TestDiscoverOfFewFacts(t *testing.T) {
	t.Parallel()
	found, err := model.Discover(t.Context(), family()[:6], model.Discovery{})
	if err != nil || len(found) < 10 {
		t.Fatal(found, err)
	}
	for i, f := range found {
		if f.Probability != nil || i > 0 && f.Lower() > found[i-1].Lower() {
			t.Errorf("fact %d is %+v", i, f)
		}
	}
}
