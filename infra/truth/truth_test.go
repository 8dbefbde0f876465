package truth

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tagnet/formats/workspace/parquet"
	"tagnet/model/graph/kg"
)

func fact(head, relation, tail string) kg.Triple {
	return kg.Triple{Head: head, Relation: relation, Tail: tail}
}

// TestRemove checks that facts are removed by their keys alone, and that names stay.
func TestRemove(t *testing.T) {
	t.Parallel()
	var facts []kg.Triple
	for i := range 2000 {
		facts = append(facts, fact(fmt.Sprint("h", i%40), fmt.Sprint("r", i%3), fmt.Sprint("t", i)), fact(fmt.Sprint("t", i), "of", "x"))
	}
	kept, removed := remove(facts, .2, "of")
	if len(kept)+len(removed) != len(facts) {
		t.Fatalf("%d facts stay, %d are removed, want %d together", len(kept), len(removed), len(facts))
	}
	if share := float64(len(removed)) / 2000; !(math.Abs(share-.2) <= .03) {
		t.Errorf("%g of the facts are removed, want about .2", share)
	}
	for _, f := range removed {
		if f.Relation == "of" {
			t.Errorf("%v is removed", f)
		}
	}
	_, half := remove(facts[:len(facts)/2], .2, "of")
	if diff := cmp.Diff(half, removed[:len(half)]); diff != "" {
		t.Errorf("other facts decide which are removed:\n%s", diff)
	}
	if _, removed := remove([]kg.Triple{fact("a", "r", "b"), fact("c", "r", "d")}, 1, ""); len(removed) != 0 {
		t.Errorf("%v are removed, want none: no other fact has their names", removed)
	}
}

// TestRemoval removes facts from each graph that is made.
func TestRemoval(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"tutorial", "rules", "shop", "hierarchy", "crowd"} {
		var r removal
		if err := (Setting{Graph: name, Percent: 10}).remove(t.Context(), t.TempDir(), &r); err != nil {
			t.Fatal(err)
		}
		if share := float64(len(r.removed)) / float64(len(r.kept)+len(r.removed)); !(math.Abs(share-.1) <= .02) || r.relations != "all" {
			t.Errorf("%s: %g of the facts of %s are removed", name, share, r.relations)
		}
	}
	var r removal
	folder := t.TempDir()
	if err := (Setting{Graph: "tutorial", TutorialRemoval: true, Relations: 2}).remove(t.Context(), folder, &r); err != nil {
		t.Fatal(err)
	}
	if missing := 509. / 3926; len(r.kept) != 3926 || r.missing != missing || len(r.removed) >= 509 || strings.Count(r.relations, ",") != 1 {
		t.Errorf("the tutorial's file has %d facts, %d of %s are removed, a share of %g", len(r.kept), len(r.removed), r.relations, r.missing)
	}
	var own removal
	if err := (Setting{Graph: "holdings", Seed: 1, MissingByRelation: true}).remove(t.Context(), t.TempDir(), &own); err != nil {
		t.Fatal(err)
	}
	flags := strings.Join(own.presumed, " ")
	if len(own.removed) != 3151 || !strings.HasPrefix(flags, "--missing 0.2360 ") || !strings.Contains(flags, " --missing audited_by=0.6667 ") {
		t.Errorf("%d facts are removed, and %s says so", len(own.removed), flags)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "facts.tsv")); err != nil || strings.Count(string(text), "\n") != 3926 {
		t.Errorf("the file has %d lines, error %v", strings.Count(string(text), "\n"), err)
	}
	if got := mostFacts([]kg.Triple{fact("a", "q", "b"), fact("a", "r", "b"), fact("b", "r", "a")}, 1); len(got) != 1 || got[0] != "r" {
		t.Errorf("relations %q have the most facts, want r", got)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	l := List{Train: "--dim 4", Settings: []Setting{{Graph: "crowd", Percent: 10}, {Graph: "hierarchy", Percent: 2, Keep: "is_a"},
		{Graph: "tutorial", TutorialRemoval: true, Model: "zero"},
		{Graph: "holdings", Seed: 2, MissingByRelation: true, Model: "zero"}}}
	runs, err := l.Runs(2)
	if err != nil {
		t.Fatal(err)
	}
	var names, lines []string
	for _, r := range runs {
		names = append(names, r.Name)
		for _, c := range r.Commands {
			if r.Name != "crowd-10-split" && r.Name != "tutorial-own-zero" || c.Words == nil {
				continue
			}
			words, err := c.Words(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, strings.Join(words, " "))
		}
	}
	if got := strings.Join(names, " "); got != "crowd-10 crowd-10-split hierarchy-2-is_a hierarchy-2-is_a-split tutorial-own-zero holdings-2-shares-zero" {
		t.Errorf("the runs are %s", got)
	}
	const with = " --workspace crowd-10-split/workspace --threads 2 --device cpu --memory 4096"
	want := []string{
		"tagnet preprocess --workspace crowd-10-split/workspace --dataset crowd-10-split/facts.tsv --split 90,5,5", "tagnet train --dim 4" + with,
		"tagnet discover --relation  --most 1000000 --top_k 10 --output list-10" + with,
		"tagnet discover --relation  --most 1000000 --top_k 100 --output list-100" + with,
		"tagnet preprocess --workspace tutorial-own-zero/workspace --dataset tutorial-own-zero/facts.tsv",
		"tagnet discover --relation  --most 1000000 --top_k 10 --output list-10" +
			strings.ReplaceAll(with, "crowd-10-split", "tutorial-own-zero") + " --model zero",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("the commands differ (-want +got):\n%s", diff)
	}
}

// listed returns a fact of a list.
func listed(head, relation, tail string, tailScore, headScore float32, probability ...float64) parquet.Fact {
	f := parquet.Fact{Head: head, Relation: relation, Tail: tail, TailScore: tailScore, HeadScore: headScore}
	if len(probability) > 0 {
		f.Probability = &probability[0]
	}
	return f
}

// TestMeasure compares a list with figures that were counted by hand.
func TestMeasure(t *testing.T) {
	t.Parallel()
	list := []parquet.Fact{listed("a", "r", "b", 3, 1, .95), listed("a", "r", "c", 9, 2, .92), listed("b", "r", "c", -1, 8, .25), listed("c", "r", "b", 5, 4)}
	removed := []kg.Triple{fact("a", "r", "b"), fact("x", "r", "y"), fact("b", "r", "c")}
	r := measure(list, list[2:], removed)
	want := result{Removed: 3, Listed: 4, Found: 2, Bins: make([]bin, 10), ByRelation: map[string]bin{},
		Precisions: []precision{{50, .04, .04, .02}, {100, .02, .02, .01}, {500, .004, .004, .002}, {3, 2. / 3, 1. / 3, 1. / 3}}}
	want.Bins[2], want.Bins[9] = bin{1, .25, 1}, bin{2, .935, .5}
	if diff := cmp.Diff(want, r, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if all := r.MeanError(0); !(math.Abs(all-(.75+2*.435)/3) <= 1e-9) || all != r.MeanError(1) {
		t.Errorf("probabilities are off by %g and %g", all, r.MeanError(1))
	}
	if r := measure(list[3:], nil, removed); r.Bins != nil {
		t.Errorf("without probabilities there are bins: %v", r.Bins)
	}
	for range 6 {
		list = append(list, list...)
	}
	if r := measure(list, nil, removed); r.Worst() != "r" || !(math.Abs(r.ByRelation["r"].off()-(2.12-2)/3) <= 1e-9) || r.ByRelation["r"].Facts != 192 {
		t.Errorf("%q is off the most, of %v", r.Worst(), r.ByRelation)
	}
	p := ofParents([]parquet.Fact{listed("a", "is_a", "b", 0, 0, .6), listed("b", "r", "b", 0, 0)},
		[]kg.Triple{fact("a", "is_a", "x"), fact("b", "is_a", "x"), fact("a", "r", "x")}, map[string]bool{"b": true})
	if diff := cmp.Diff(&parents{Likely: 1, First: .005, All: .5}, p); diff != "" {
		t.Error(diff)
	}
}

// TestOnlyAnswers checks which relations have one answer, what their candidates add up to, and that
// rules list no other.
func TestOnlyAnswers(t *testing.T) {
	t.Parallel()
	var facts []kg.Triple
	for i := range 40 {
		facts = append(facts, fact(fmt.Sprint("h", i), "in", fmt.Sprint("c", i%4)), fact(fmt.Sprint("h", i), "of", fmt.Sprint("t", i%4)))
	}
	for i := range 4 {
		facts = append(facts, fact(fmt.Sprint("c", i), "its", fmt.Sprint("t", i)))
	}
	facts[79].Tail = "t0" // the rule that leads to t3 holds in 39 of 40 cases
	facts = append(facts, fact("new", "in", "c1"))
	answers, only := onlyAnswers(facts)
	if answers[[2]string{"~in", "c1"}] != 11 || !only["in"] || !only["of"] || only["~in"] || only["its"] {
		t.Errorf("%v have one answer, want in and of", only)
	}
	list := []parquet.Fact{listed("new", "of", "t1", 0, 0, .9), listed("new", "of", "t2", 0, 0, .7), listed("h0", "of", "t1", 0, 0, .9),
		listed("h0", "of", "t2", 0, 0, .9),
		listed("new", "of", "t3", 0, 0, .6), listed("new", "its", "t3", 0, 0, .8)}
	list[4].TailRank = 11
	if sum := largestSum(list, facts); !(math.Abs(sum-1.6) <= 1e-9) {
		t.Errorf("the largest sum is %g, want .9 and .7", sum)
	}
	learned, err := learn(t.Context(), removal{kept: facts, relations: "of"})
	if want := []parquet.Fact{{Head: "new", Relation: "of", Tail: "t1"}}; err != nil || !cmp.Equal(want, learned) {
		t.Errorf("rules list %v, error %v, want %v", learned, err, want)
	}
}

func TestMisses(t *testing.T) {
	t.Parallel()
	good := func() result {
		r := result{Precisions: []precision{{50, 1, 1, 0}, {100, .96, .96, .97}, {500, .9, .93, 0}, {1000, .8, .8, 0}}, Bins: make([]bin, 10)}
		r.Bins[0] = bin{100_000, .001, .001}
		r.Bins[8] = bin{100, .85, .76}
		return r
	}
	if misses := good().Misses(); len(misses) > 0 {
		t.Errorf("misses %q, want none", misses)
	}
	tenth := .95
	for want, change := range map[string]func(r *result){
		"P@500 0.850, by the":     func(r *result) { r.Precisions[2].List = .85 },
		"P@1000 0.700":            func(r *result) { r.Precisions[3].List = .7 },
		"want .97":                func(r *result) { r.TutorialRemoval = true },
		"p from 0.8":              func(r *result) { r.Bins[8].True = .7 },
		"off by 0.04":             func(r *result) { r.Bins[0].True = .041 },
		"off by 0.061 from .1 on": func(r *result) { r.MissingByRelation, r.Bins[1] = true, bin{100, .1, .161}; r.Bins[8].Facts = 0 },
		"p of q is off by 0.16": func(r *result) {
			r.MissingByRelation, r.ByRelation = true, map[string]bin{"q": {100, .56, .4}, "r": {200, .5, .4}}
			r.Bins[8] = bin{}
		},
		"P@100 0.960, of rules 0.970":  func(r *result) { r.Seed = 1 },
		"the sum 1.100":                func(r *result) { r.Seed, r.LargestSum, r.Precisions[1].Rules = 1, 1.1, .9 },
		"no probabilities":             func(r *result) { r.Bins = nil },
		"P@500 is 0.900 of 10":         func(r *result) { r.Wide = &tenth },
		"1 is_a":                       func(r *result) { r.Parents = &parents{Likely: 1} },
		"0.16 of the first 200 are ab": func(r *result) { r.Parents = &parents{First: .16, All: .1} },
	} {
		r := good()
		change(&r)
		if misses := r.Misses(); len(misses) != 1 || !strings.Contains(misses[0], want) {
			t.Errorf("misses %q, want %q", misses, want)
		}
	}
}
