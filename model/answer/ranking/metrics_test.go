package ranking

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"testing"

	"tagnet/formats/workspace/metrics"
)

func TestMetrics(t *testing.T) {
	var a Accumulator
	for _, r := range []Rank{{1, 1, 9}, {4, 2, 9}, {10, 10, 20}, {12, 1, 20}} {
		a.Add(r)
	}
	for _, c := range []struct {
		name      string
		got, want metrics.Metrics
	}{
		{"pessimistic", a.Pessimistic.Metrics(), metrics.Metrics{MRR: (1 + 1./4 + 1./10 + 1./12) / 4, Hits1: .25, Hits3: .25, Hits10: .75, MeanRank: 27. / 4}},
		{"mean", a.Mean.Metrics(), metrics.Metrics{MRR: (1 + 1./3 + 1./10 + 1/6.5) / 4, Hits1: .25, Hits3: .5, Hits10: 1, MeanRank: 20.5 / 4}},
		{"optimistic", a.Optimistic.Metrics(), metrics.Metrics{MRR: (1 + 1./2 + 1./10 + 1) / 4, Hits1: .5, Hits3: .75, Hits10: 1, MeanRank: 14. / 4}},
	} {
		for _, pair := range [][2]float64{{c.got.MRR, c.want.MRR}, {c.got.Hits1, c.want.Hits1}, {c.got.Hits3, c.want.Hits3},
			{c.got.Hits10, c.want.Hits10}, {c.got.MeanRank, c.want.MeanRank}} {
			if !(math.Abs(pair[0]-pair[1]) <= 1e-12) {
				t.Errorf("%s: %+v, want %+v", c.name, c.got, c.want)
				break
			}
		}
	}
	if a.Queries != 4 || a.Tied != 2 || a.Metrics().Tied != .5 {
		t.Errorf("queries %d, tied %d, share %g; want 4, 2, 0.5", a.Queries, a.Tied, a.Metrics().Tied)
	}
}

func TestNoRanksHaveNoMetrics(t *testing.T) {
	var a Accumulator
	if got := a.Pessimistic.Metrics(); got != (metrics.Metrics{}) || a.Metrics().Tied != 0 {
		t.Errorf("metrics of nothing: %+v, tied share %g", got, a.Metrics().Tied)
	}
}

// Whatever the order and the grouping in which ranks arrive, the same bits.
func TestOrderDoesNotMatter(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	ranks := make([]Rank, 1000)
	var want Accumulator
	for i := range ranks {
		optimistic := 1 + random.Int64N(500)
		pessimistic := optimistic + random.Int64N(3)
		ranks[i] = Rank{pessimistic, optimistic, 600}
		want.Add(ranks[i])
	}
	for range 5 {
		random.Shuffle(len(ranks), func(i, j int) { ranks[i], ranks[j] = ranks[j], ranks[i] })
		groups := make([]Accumulator, 1+random.IntN(9))
		for _, r := range ranks {
			groups[random.IntN(len(groups))].Add(r)
		}
		var got Accumulator
		for _, g := range groups {
			got.Merge(g)
		}
		if got != want {
			t.Fatalf("in another order %+v, want %+v", got, want)
		}
	}
}

// The MRR is the float64 next to the exact one, for ranks up to the largest.
func TestMRRIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, most := range []int64{1, 3, 10, 1000, math.MaxInt32} {
		var got Tally
		exact := new(big.Rat)
		const n = 200
		for range n {
			doubled := 2 + random.Int64N(2*most-1)
			got.add(doubled)
			exact.Add(exact, big.NewRat(2, doubled))
		}
		want, _ := exact.Quo(exact, big.NewRat(n, 1)).Float64()
		if mrr := got.Metrics().MRR; mrr != want {
			t.Errorf("ranks up to %d: MRR %v, want %v", most, mrr, want)
		}
	}
}

// Sums that exceed a word carry over.
func TestManyRanks(t *testing.T) {
	var third Tally
	third.add(2 * 3)
	sum := third
	for range 30 { // doubles the number of ranks
		sum.Merge(sum)
	}
	if m := sum.Metrics(); m.MRR != 1./3 || sum.Ranks != 1<<30 || m.Hits3 != 1 || m.Hits1 != 0 || m.MeanRank != 3 {
		t.Errorf("%d ranks of 3: %+v", sum.Ranks, m)
	}
}

// TestEveryMetric holds of each field of Metrics that ranks set it, whether they are counted in one tally or in
// several, and of each interval that it is around the metric.
func TestEveryMetric(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var whole, first Tally
	var parts [2]Tally
	var bootstrap Bootstrap
	var weights Weights
	first.add(2)
	for i := range int64(400) {
		rank := 1 + random.Int64N(20)
		whole.add(2 * rank)
		parts[i%2].add(2 * rank)
		weights.Draw(9, i)
		bootstrap.Add(&weights, rank)
	}
	parts[0].Merge(parts[1])
	best, got, merged := reflect.ValueOf(first.Metrics()), reflect.ValueOf(whole.Metrics()), reflect.ValueOf(parts[0].Metrics())
	for i := range got.NumField() {
		name, value := got.Type().Field(i).Name, got.Field(i).Float()
		if value == 0 || value == best.Field(i).Float() {
			t.Errorf("%s is %g for ranks up to 20 as for ranks of 1, or 0", name, value)
		}
		if other := merged.Field(i).Float(); other != value {
			t.Errorf("%s of merged tallies is %g, want %g", name, other, value)
		}
	}
	intervals := reflect.ValueOf(*bootstrap.Sample(400).Intervals)
	for i := range intervals.NumField() {
		name, interval := intervals.Type().Field(i).Name, intervals.Field(i).Interface().(metrics.Interval)
		if value := got.FieldByName(name).Float(); interval.Excludes(value) || interval.Low == interval.High {
			t.Errorf("the interval of %s is %v, which is not around %g", name, interval, value)
		}
	}
}
