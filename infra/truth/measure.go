package truth

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tagnet/formats/workspace/parquet"
	"tagnet/model/graph/kg"
)

// result has the metrics of a setting, which its file holds.
type result struct {
	Setting `json:"-"`
	// Facts is the number of facts that stayed, Removed those that were removed, Found those of the latter that are in
	// the list, of Listed facts.
	Facts   int `json:"facts"`
	Removed int `json:"removed"`
	Listed  int `json:"listed"`
	Found   int `json:"found"`
	// Missing is the share that probabilities presume: of all facts that were removed to Facts.
	Missing    float64     `json:"missing"`
	Precisions []precision `json:"precisions"`
	// Bins are of p from 0, .1, ...; none where there are no probabilities.
	Bins []bin `json:"bins,omitempty"`
	// Wide is the share of true ones among the first 500 with ten times as many candidates of each query.
	Wide *float64 `json:"wide,omitempty"`
	// Parents has the metrics of a hierarchy in which no is_a is missing.
	Parents *parents `json:"parents,omitempty"`
}

// precision is the share of true ones among the first At of the list, and of the same facts in the order of the lower
// of their two scores.
type precision struct {
	At    int     `json:"at"`
	List  float64 `json:"list"`
	Lower float64 `json:"lower"`
}

// bin has the facts with probabilities in a range: how many, their mean probability, and the share of true ones.
type bin struct {
	Facts int     `json:"facts"`
	Mean  float64 `json:"mean"`
	True  float64 `json:"true"`
}

// parents says what a list claims of a hierarchy's terms, each of which has its parent.
type parents struct {
	// Likely is the number of is_a with p > .5.
	Likely int `json:"likely"`
	// First is the share of the first 200 facts that are about a term whose parent the split hid, All the
	// share of such terms.
	First float64 `json:"first"`
	All   float64 `json:"all"`
}

// measure compares a list with what was removed.
func measure(list []parquet.Fact, removed []kg.Triple) result {
	known := map[kg.Triple]bool{}
	for _, f := range removed {
		known[f] = true
	}
	isTrue := func(f parquet.Fact) bool {
		return known[kg.Triple{Head: f.Head, Relation: f.Relation, Tail: f.Tail}]
	}
	share := func(list []parquet.Fact, first int) float64 { // of true facts among the first
		return float64(count(list[:min(first, len(list))], isTrue)) / float64(max(1, first))
	}
	lower := func(f parquet.Fact) float32 { return min(f.TailScore, f.HeadScore) }
	byLower := slices.Clone(list)
	slices.SortStableFunc(byLower, func(a, b parquet.Fact) int { return cmp.Compare(lower(b), lower(a)) })
	r := result{Removed: len(removed), Listed: len(list), Found: count(list, isTrue)}
	for _, at := range []int{50, 100, 500, len(removed)} {
		r.Precisions = append(r.Precisions, precision{at, share(list, at), share(byLower, at)})
	}
	for i := range 10 {
		var of []parquet.Fact
		b := bin{}
		for _, f := range list {
			if p := f.Probability; p != nil && min(9, int(10**p)) == i {
				of, b.Mean = append(of, f), b.Mean+*p
			}
		}
		if b.Facts = len(of); b.Facts > 0 {
			b.Mean, b.True = b.Mean/float64(b.Facts), share(of, b.Facts)
		}
		r.Bins = append(r.Bins, b)
	}
	if count(list, func(f parquet.Fact) bool { return f.Probability != nil }) == 0 {
		r.Bins = nil
	}
	return r
}

// count returns how many facts a condition holds for.
func count(list []parquet.Fact, holds func(parquet.Fact) bool) (n int) {
	for _, f := range list {
		if holds(f) {
			n++
		}
	}
	return n
}

// ofParents returns what a list says of terms. hidden are those whose parent the split hid.
func ofParents(list []parquet.Fact, facts []kg.Triple, hidden map[string]bool) *parents {
	terms := slices.DeleteFunc(slices.Clone(facts), func(f kg.Triple) bool { return f.Relation != "is_a" })
	return &parents{
		Likely: count(list, func(f parquet.Fact) bool { return f.Relation == "is_a" && f.Probability != nil && *f.Probability > .5 }),
		First:  float64(count(list[:min(200, len(list))], func(f parquet.Fact) bool { return hidden[f.Head] })) / 200,
		All:    float64(len(hidden)) / float64(len(terms)),
	}
}

// error2 returns two standard errors of a share of n.
func error2(share float64, n int) float64 { return 2 * math.Sqrt(share*(1-share)/float64(n)) }

// MeanError returns the mean distance of the bins' probabilities from the truth, over their facts; those below the
// first bin are left out.
func (r result) MeanError(first int) float64 {
	sum, facts := 0.0, 0.0
	for i, b := range r.Bins {
		if i >= first {
			sum += float64(b.Facts) * math.Abs(b.Mean-b.True)
			facts += float64(b.Facts)
		}
	}
	return sum / max(1, facts)
}

// Misses returns what is not as good as it should be.
func (r result) Misses() (list []string) {
	say := func(format string, values ...any) { list = append(list, fmt.Sprintf(format, values...)) }
	for i, p := range r.Precisions {
		if i >= 2 && p.List < p.Lower-.02-math.Hypot(error2(p.List, p.At), error2(p.Lower, p.At)) {
			say("P@%d %.3f, by the lower score %.3f", p.At, p.List, p.Lower)
		}
		if r.TutorialRemoval && p.At == 500 && p.List < .97 {
			say("P@500 %.3f, want .97", p.List)
		}
	}
	for i, b := range r.Bins {
		if b.Facts >= 100 && math.Abs(b.Mean-b.True) > .05+max(error2(b.True, b.Facts), error2(b.Mean, b.Facts)) {
			say("p from %.1f: %d facts, p %.3f, true %.3f", float64(i)/10, b.Facts, b.Mean, b.True)
		}
	}
	if all := r.MeanError(0); all > .03 {
		say("p is off by %.3f", all)
	}
	if r.Bins == nil {
		say("no probabilities")
	}
	if r.Wide != nil && math.Abs(*r.Wide-r.Precisions[2].List) >= .03 {
		say("P@500 is %.3f of 10 candidates of each query, %.3f of 100", r.Precisions[2].List, *r.Wide)
	}
	if r.Parents != nil && r.Parents.Likely > 0 {
		say("%d is_a with p > .5", r.Parents.Likely)
	}
	if r.Parents != nil && r.Parents.First > r.Parents.All+.05 {
		say("%.2f of the first 200 are about terms whose parent the split hid, who are %.2f of all", r.Parents.First, r.Parents.All)
	}
	return list
}
