package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/input/datasets"
	"tagnet/infra/internal/program"
)

func fact(head, relation, tail string) datasets.Fact {
	return datasets.Fact{Head: head, Relation: relation, Tail: tail}
}

// TestRemove checks that facts are removed by their keys alone, and that names stay.
func TestRemove(t *testing.T) {
	t.Parallel()
	var facts []datasets.Fact
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
	if _, removed := remove([]datasets.Fact{fact("a", "r", "b"), fact("c", "r", "d")}, 1, ""); len(removed) != 0 {
		t.Errorf("%v are removed, want none: no other fact has their names", removed)
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	names, splits := map[string]bool{}, 0
	for _, s := range settings() {
		names[s.name()] = true
		if s.Split {
			splits++
		}
	}
	if len(names) != len(settings()) || len(names) != 2*splits {
		t.Errorf("%d settings have %d names, %d are split", len(settings()), len(names), splits)
	}
	for _, name := range []string{"tutorial", "rules", "shop", "hierarchy", "crowd"} {
		s := setting{Graph: name, Percent: 10}
		kept, removed, err := s.facts(context.Background(), "", t.TempDir())
		if share := float64(len(removed)) / float64(len(kept)+len(removed)); err != nil || !(math.Abs(share-.1) <= .02) {
			t.Errorf("%s: %g of the facts are removed, error %v", name, share, err)
		}
	}
	kept, removed, err := setting{Graph: "tutorial", Own: true}.facts(context.Background(), "", t.TempDir())
	if err != nil || len(kept) != 3926 || len(removed) != 509 {
		t.Errorf("the tutorial's file has %d facts of %d, error %v", len(kept), len(kept)+len(removed), err)
	}
	if got := (setting{Relations: 1}).lists([]datasets.Fact{fact("a", "q", "b"), fact("a", "r", "b"), fact("b", "r", "a")}); got != "r" {
		t.Errorf("relations %q are listed, want r", got)
	}
	if _, _, err := (setting{Graph: "none"}).facts(context.Background(), "", t.TempDir()); err == nil {
		t.Error("a graph of no name is no error")
	}
}

// TestMeasure compares a list with figures that were counted by hand.
func TestMeasure(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "facts.tsv")
	text := "position\thead\trelation\ttail\tprobability\ttail_score\ttail_rank\thead_score\thead_rank\thops\n" +
		"1\ta\tr\tb\t0.95\t3\t1\t1\t1\t1\n" + "2\ta\tr\tc\t0.92\t9\t1\t2\t1\t1\n" + "3\tb\tr\tc\t0.25\t-1\t2\t8\t1\t2\n" + "4\tc\tr\tb\t\t5\t2\t4\t1\t2\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := readList(path)
	if err != nil {
		t.Fatal(err)
	}
	r := measure(list, []datasets.Fact{fact("a", "r", "b"), fact("x", "r", "y"), fact("b", "r", "c")})
	want := result{Removed: 3, Listed: 4, Found: 2, Precisions: []precision{{50, .04, .04}, {100, .02, .02}, {500, .004, .004}, {3, 2. / 3, 1. / 3}}, Bins: make([]bin, 10)}
	want.Bins[2], want.Bins[9] = bin{1, .25, 1}, bin{2, .935, .5}
	if diff := cmp.Diff(want, r, cmp.AllowUnexported(setting{}, result{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	all, likely := r.off()
	if !(math.Abs(all-(.75+2*.435)/3) <= 1e-9) || all != likely {
		t.Errorf("probabilities are off by %g and %g", all, likely)
	}
	p := ofParents([]listed{{Fact: fact("a", "is_a", "b"), probability: .6}, {Fact: fact("b", "r", "b")}},
		[]datasets.Fact{fact("a", "is_a", "x"), fact("b", "is_a", "x"), fact("a", "r", "x")}, map[string]bool{"b": true})
	if diff := cmp.Diff(&parents{Likely: 1, First: .005, All: .5}, p); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(text, "0.25", "p", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := readList(path); err == nil || !strings.Contains(err.Error(), "probability of line 4") {
		t.Errorf("error %v", err)
	}
}

func TestMisses(t *testing.T) {
	t.Parallel()
	good := func() result {
		r := result{Precisions: []precision{{50, 1, 1}, {100, 1, 1}, {500, .9, .93}, {1000, .8, .8}}, Bins: make([]bin, 10)}
		r.Bins[0] = bin{100_000, .001, .001}
		r.Bins[8] = bin{100, .85, .76}
		return r
	}
	if misses := good().misses(); len(misses) > 0 {
		t.Errorf("misses %q, want none", misses)
	}
	tenth := .95
	for want, change := range map[string]func(r *result){
		"P@500 0.850, by the":          func(r *result) { r.Precisions[2].List = .85 },
		"P@1000 0.700":                 func(r *result) { r.Precisions[3].List = .7 },
		"want .97":                     func(r *result) { r.Own = true },
		"p from 0.8":                   func(r *result) { r.Bins[8].True = .7 },
		"off by 0.04":                  func(r *result) { r.Bins[0].True = .041 },
		"no probabilities":             func(r *result) { r.Bins = nil },
		"P@500 is 0.900 of 10":         func(r *result) { r.Wide = &tenth },
		"1 is_a":                       func(r *result) { r.Parents = &parents{Likely: 1} },
		"0.16 of the first 200 are ab": func(r *result) { r.Parents = &parents{First: .16, All: .1} },
	} {
		r := good()
		change(&r)
		if misses := r.misses(); len(misses) != 1 || !strings.Contains(misses[0], want) {
			t.Errorf("misses %q, want %q", misses, want)
		}
	}
}

// TestRun measures nothing: it makes the table of results that are there.
func TestRun(t *testing.T) {
	t.Parallel()
	o := options{results: t.TempDir()}
	r := result{setting: setting{Graph: "shop", Percent: 10}, Removed: 7, Precisions: []precision{{50, 1, .5}, {100, 1, .5}, {500, 1, 1}, {7, 1, 1}}}
	if err := o.write(r); err != nil {
		t.Fatal(err)
	}
	other := r
	other.Split = true
	if err := o.write(other); err != nil {
		t.Fatal(err)
	}
	if got, err := o.read(r.setting); err != nil || cmp.Diff(&r, got, cmp.AllowUnexported(setting{}, result{})) != "" {
		t.Errorf("%+v, error %v", got, err)
	}
	var out strings.Builder
	if err := run(context.Background(), []string{"--tagnet", "none", "--only", "none", "--results", o.results}, &out, &out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(o.results, "TRUTH.md"))
	for _, want := range []string{"| shop | 10%: 7 |  | 1.000 (.500) |", "| shop | 10%: 7 | yes |", "2 settings, 2 of which miss", "P@50 is higher than that of the lower score by 0.500"} {
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("error %v, want %q in\n%s", err, want, text)
		}
	}
	if want := "shop-10-split misses: no probabilities"; !strings.Contains(out.String(), want) {
		t.Errorf("printed %q, want %q", out.String(), want)
	}
	if err := run(context.Background(), nil, &out, &out); !errors.As(err, new(program.UsageError)) {
		t.Errorf("error %v, want a UsageError", err)
	}
}
