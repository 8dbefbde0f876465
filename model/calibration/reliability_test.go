package calibration

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tagnet/formats/metrics"
)

func TestReliability(t *testing.T) {
	t.Parallel()
	var r Reliability
	for _, c := range []struct {
		probability float64
		isTrue      bool
	}{{0.02, false}, {0.04, true}, {0.5, true}, {0.58, false}, {1, true}, {0, false}} {
		r.Add(c.probability, c.isTrue)
	}
	if total := r.Total(); total.Candidates != 6 || total.True != 3 || !(math.Abs(total.Mean()-2.14/6) <= 1e-9) || total.Observed() != 0.5 {
		t.Errorf("total %+v", total)
	}
	// |0.06 - 1| + |1.08 - 1| + |1 - 1|, of six candidates
	if got, want := r.Error(), (0.94+0.08)/6; !(math.Abs(got-want) <= 1e-9) {
		t.Errorf("error %g, want %g", got, want)
	}
	rows := r.Table().Bins
	want := map[int]metrics.Bin{0: {To: 0.1, Candidates: 3, Mean: 0.02, Observed: 1. / 3}, 5: {From: 0.5, To: 0.6, Candidates: 2, Mean: 0.54, Observed: 0.5}, 9: {From: 0.9, To: 1, Candidates: 1, Mean: 1, Observed: 1}, 3: {From: 0.3, To: 0.4}}
	for i, row := range want {
		if diff := cmp.Diff(row, rows[i], cmpopts.EquateApprox(0, 1e-9)); diff != "" {
			t.Errorf("bin %d:\n%s", i, diff)
		}
	}
	if empty := (&Reliability{}).Error(); empty != 0 {
		t.Errorf("error %g of nothing", empty)
	}
}

// TestReliabilityOfShards checks that counts which are merged in any grouping have equal bits.
func TestReliabilityOfShards(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	var whole Reliability
	shards := make([]Reliability, 7)
	for range 5000 {
		p, isTrue := random.Float64(), random.IntN(3) == 0
		whole.Add(p, isTrue)
		shards[random.IntN(len(shards))].Add(p, isTrue)
	}
	var merged Reliability
	for _, i := range random.Perm(len(shards)) {
		merged.Merge(&shards[i])
	}
	if diff := cmp.Diff(whole, merged); diff != "" {
		t.Error(diff)
	}
}

// TestCalibratedProbabilitiesAreReliable checks that fitted probabilities of other queries are far nearer to the observed
// shares than the sigmoids of the scores.
func TestCalibratedProbabilitiesAreReliable(t *testing.T) {
	t.Parallel()
	lines := []Line{{-3, 0.5}, {-1, 2}, {-4, 1}, {-2, 0}}
	c := fitted(t, draw(1500, lines, 1))
	var before, after Reliability
	for _, s := range draw(1500, lines, 2) {
		before.Add(Sigmoid(float64(s.Score)), s.True)
		after.Add(c.Probability(s.Relation, s.Score), s.True)
	}
	if !(before.Error() >= 0.2 && after.Error() <= 0.02) {
		t.Errorf("expected calibration error %g before, %g after", before.Error(), after.Error())
	}
}
