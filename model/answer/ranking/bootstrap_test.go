package ranking

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"tagnet/formats/workspace/metrics"
)

// bootstrapOf returns the bootstrap of ranks, numbered from 0.
func bootstrapOf(seed uint64, ranks []int64) *Bootstrap {
	var b Bootstrap
	var w Weights
	for i, rank := range ranks {
		w.Draw(seed, int64(i))
		b.Add(&w, rank)
	}
	return &b
}

// TestWeightsArePoisson checks mean, variance and the largest weights, and that neighboring replicates and
// queries are uncorrelated.
func TestWeightsArePoisson(t *testing.T) {
	t.Parallel()
	const queries = 2000
	var counts [256]float64
	var last, w Weights
	var across, along float64
	for q := range int64(queries) {
		last = w
		w.Draw(7, q)
		for i, n := range w {
			counts[n]++
			across += (float64(n) - 1) * (float64(w[(i+1)%Replicates]) - 1)
			along += (float64(n) - 1) * (float64(last[i]) - 1)
		}
	}
	n := float64(queries * Replicates)
	expected := math.Exp(-1)
	for value := range 7 {
		if value > 0 {
			expected /= float64(value)
		}
		if share := counts[value] / n; !(math.Abs(share-expected) < 4*math.Sqrt(expected/n)+2./(1<<16)) {
			t.Errorf("%.6f of the weights are %d, want %.6f", share, value, expected)
		}
	}
	for name, sum := range map[string]float64{"replicates": across, "queries": along} {
		if correlation := sum / n; !(math.Abs(correlation) < 0.005) {
			t.Errorf("the weights of neighboring %s correlate by %.4f", name, correlation)
		}
	}
}

// TestIntervalsCover draws many sets of queries from one distribution, and checks that about 95% of the intervals
// contain its metrics.
func TestIntervalsCover(t *testing.T) {
	t.Parallel()
	const sets, queries = 300, 200
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() int64 { // half of the ranks are 1, a quarter 2, and so on
		rank := int64(1)
		for random.IntN(2) == 0 && rank < 30 {
			rank++
		}
		return rank
	}
	covered := map[string]int{}
	for set := range sets {
		ranks := make([]int64, queries)
		for i := range ranks {
			ranks[i] = draw()
		}
		all := bootstrapOf(uint64(set), ranks).Intervals()
		if all == nil {
			t.Fatal("no intervals")
		}
		for _, one := range []struct {
			metric   string
			interval metrics.Interval
			truth    float64
		}{{"MRR", all.MRR, math.Ln2}, {"Hits@1", all.Hits1, 0.5}, {"Hits@3", all.Hits3, 0.875}} {
			if !one.interval.Excludes(one.truth) {
				covered[one.metric]++
			}
		}
	}
	for metric, n := range covered {
		if share := float64(n) / sets; share < 0.90 || share > 0.985 {
			t.Errorf("%s: %.3f of the intervals contain the truth", metric, share)
		}
	}
}

// TestBootstrapIsExactAndMergeable checks the same sums in any order and grouping, and a metric of replicates with the
// weights themselves.
func TestBootstrapIsExactAndMergeable(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	ranks := make([]int64, 500)
	for i := range ranks {
		ranks[i] = 1 + random.Int64N(1+random.Int64N(40))
	}
	want := bootstrapOf(5, ranks)
	groups := make([]Bootstrap, 4)
	for _, i := range random.Perm(len(ranks)) {
		var w Weights
		w.Draw(5, int64(i))
		groups[random.IntN(4)].Add(&w, ranks[i])
	}
	got := &groups[3]
	for i := range 3 {
		got.Merge(&groups[i])
	}
	if *got != *want {
		t.Error("in another order and grouping the sums differ")
	}
	if rest := want.Without(&groups[0]); rest.Queries+groups[0].Queries != 500 {
		t.Errorf("%d queries without %d of 500", rest.Queries, groups[0].Queries)
	} else if rest.Merge(&groups[0]); *rest != *want {
		t.Error("removing some queries and adding them again changes the sums")
	}
	var sum, hits, weight float64
	var w Weights
	for i, rank := range ranks {
		w.Draw(5, int64(i))
		weight += float64(w[17])
		sum += float64(w[17]) / float64(rank)
		if rank <= 10 {
			hits += float64(w[17])
		}
	}
	const hits10 = 3 // the line of the table
	if r := want.sums[17]; !(math.Abs(r.value(mrr)-sum/weight) < 1e-8) || !(math.Abs(r.value(hits10)-hits/weight) < 1e-12) {
		t.Errorf("replicate 17: MRR %g, Hits@10 %g, want %g, %g", r.value(mrr), r.value(hits10), sum/weight, hits/weight)
	}
	if other := bootstrapOf(6, ranks); other.sums == want.sums {
		t.Error("another seed gives the same weights")
	}
}

// TestDifferencesArePaired checks that a small improvement of every query is told from none, although
// both intervals overlap.
func TestDifferencesArePaired(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 9))
	better, worse := make([]int64, 400), make([]int64, 400)
	for i := range better {
		better[i] = 1 + random.Int64N(20)
		worse[i] = better[i] + random.Int64N(2)
	}
	a, b := bootstrapOf(1, better), bootstrapOf(1, worse)
	own, _ := a.MRR()
	other, _ := b.MRR()
	if own.Low > other.High {
		t.Fatalf("%v and %v do not overlap: the test shows nothing", own, other)
	}
	if d, ok := a.Difference(b); !ok || !d.Excludes(0) || d.Low < 0 {
		t.Errorf("the difference is %v", d)
	}
	if d, ok := a.Difference(a); !ok || d != (metrics.Interval{}) {
		t.Errorf("the difference to itself is %v", d)
	}
}

func TestFewQueriesHaveNoInterval(t *testing.T) {
	t.Parallel()
	if all := bootstrapOf(1, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9}).Intervals(); all != nil {
		t.Errorf("nine queries have the intervals %+v", all)
	}
	all := bootstrapOf(1, slices.Repeat([]int64{1}, 10)).Intervals()
	if all == nil || all.Hits1 != (metrics.Interval{Low: 1, High: 1}) {
		t.Errorf("ten ranks of 1 have the intervals %+v", all)
	}
}

func BenchmarkBootstrap(b *testing.B) {
	var boot Bootstrap
	var w Weights
	for i := range b.N {
		w.Draw(1, int64(i))
		boot.Add(&w, int64(1+i%30))
	}
}
