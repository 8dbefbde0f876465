package truth

import (
	"cmp"
	"fmt"
	"maps"
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
	// ByRelation has the facts from p = .1 on of relations that have leastCounted of them.
	ByRelation map[string]bin `json:"by_relation,omitempty"`
	// LargestSum is the largest sum of the p of an only answer's candidates.
	LargestSum float64 `json:"largest_sum"`
	// Wide is the share of true ones among the first 500 with ten times as many candidates of each query.
	Wide *float64 `json:"wide,omitempty"`
	// Parents has the metrics of a hierarchy in which no is_a is missing.
	Parents *parents `json:"parents,omitempty"`
}

// precision is the share of true ones among the first At of the list, and of the same facts in the order of the lower
// of their two scores. Rules is that of what rules list.
type precision struct {
	At    int     `json:"at"`
	List  float64 `json:"list"`
	Lower float64 `json:"lower"`
	Rules float64 `json:"rules,omitempty"`
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

// measure compares a list, and what rules list, with what was removed.
func measure(list, learned []parquet.Fact, removed []kg.Triple) result {
	known := setOf(removed)
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
		r.Precisions = append(r.Precisions, precision{at, share(list, at), share(byLower, at), share(learned, at)})
	}
	tenths := binsOf(list, isTrue, func(f parquet.Fact) int { return min(9, int(10**f.Probability)) })
	for i := range min(10, 10*len(tenths)) {
		r.Bins = append(r.Bins, tenths[i])
	}
	likely := slices.DeleteFunc(byLower, func(f parquet.Fact) bool { return f.Probability == nil || *f.Probability < .1 })
	r.ByRelation = binsOf(likely, isTrue, func(f parquet.Fact) string { return f.Relation })
	maps.DeleteFunc(r.ByRelation, func(_ string, b bin) bool { return b.Facts < leastCounted })
	return r
}

func setOf(facts []kg.Triple) map[kg.Triple]bool {
	set := map[kg.Triple]bool{}
	for _, f := range facts {
		set[f] = true
	}
	return set
}

// leastCounted is the least number of facts whose share is compared.
const leastCounted = 100

// binsOf divides the facts with probabilities by a key.
func binsOf[K comparable](list []parquet.Fact, isTrue func(parquet.Fact) bool, key func(parquet.Fact) K) map[K]bin {
	bins := map[K]bin{}
	for _, f := range list {
		if f.Probability == nil {
			continue
		}
		b := bins[key(f)]
		if b.Facts, b.Mean = b.Facts+1, b.Mean+*f.Probability; isTrue(f) {
			b.True++
		}
		bins[key(f)] = b
	}
	for k, b := range bins {
		bins[k] = bin{b.Facts, b.Mean / float64(b.Facts), b.True / float64(b.Facts)}
	}
	return bins
}

// off returns how far the probabilities are from the truth.
func (b bin) off() float64 { return math.Abs(b.Mean - b.True) }

// Worst returns the relation whose probabilities are farthest from the truth, none where none has enough facts.
func (r result) Worst() (relation string) {
	for _, name := range slices.Sorted(maps.Keys(r.ByRelation)) {
		if relation == "" || r.ByRelation[name].off() > r.ByRelation[relation].off() {
			relation = name
		}
	}
	return relation
}

// onlyAnswers counts the answers of each head of a relation, and of each tail, of ~ the relation. It returns those,
// too, that have one answer: fewer than 3% of 20 and more have several.
func onlyAnswers(facts []kg.Triple) (answers map[[2]string]int, only map[string]bool) {
	answers, only = map[[2]string]int{}, map[string]bool{}
	for _, f := range facts {
		answers[[2]string{f.Relation, f.Head}]++
		answers[[2]string{"~" + f.Relation, f.Tail}]++
	}
	heads, several := map[string]int{}, map[string]int{}
	for of, n := range answers {
		heads[of[0]]++
		several[of[0]] += min(1, n-1)
	}
	for relation, n := range heads {
		only[relation] = n >= 20 && 100*several[relation] < 3*n
	}
	return answers, only
}

// largestSum returns the largest sum of the probabilities of the 10 best answers of those that have
// none, and may have one.
func largestSum(list []parquet.Fact, facts []kg.Triple) (largest float64) {
	answers, only := onlyAnswers(facts)
	sums := map[[2]string]float64{}
	add := func(f parquet.Fact, relation, head string, rank int64) {
		if of := [2]string{relation, head}; f.Probability != nil && only[relation] && answers[of] == 0 && rank <= 10 {
			sums[of] += *f.Probability
			largest = max(largest, sums[of])
		}
	}
	for _, f := range list {
		add(f, f.Relation, f.Head, f.TailRank)
		add(f, "~"+f.Relation, f.Tail, f.HeadRank)
	}
	return largest
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
			sum += float64(b.Facts) * b.off()
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
		if b.Facts >= leastCounted && b.off() > .05+max(error2(b.True, b.Facts), error2(b.Mean, b.Facts)) {
			say("p from %.1f: %d facts, p %.3f, true %.3f", float64(i)/10, b.Facts, b.Mean, b.True)
		}
	}
	if all := r.MeanError(0); all > .03 {
		say("p is off by %.3f", all)
	}
	if from := r.MeanError(1); r.MissingByRelation && from > .06 {
		say("p is off by %.3f from .1 on", from)
	}
	if w := r.Worst(); r.MissingByRelation && r.ByRelation[w].off() > .15 {
		say("p of %s is off by %.3f", w, r.ByRelation[w].off())
	}
	if p := r.Precisions[1]; r.Seed > 0 && p.Rules >= .97 && p.List < .97 {
		say("P@100 %.3f, of rules %.3f", p.List, p.Rules)
	}
	if r.Seed > 0 && r.LargestSum > 1.0005 {
		say("the p of an only answer's candidates have the sum %.3f", r.LargestSum)
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
