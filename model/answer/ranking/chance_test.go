package ranking

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestChance compares the MRR of random scores with that of drawn ranks, and its standard error with how
// the drawn MRR varies.
func TestChance(t *testing.T) {
	t.Parallel()
	candidates := []int64{1, 2, 7, 64, 65, 500}
	var chance Chance
	for _, n := range candidates {
		chance.Add(n)
	}
	const repeats = 200_000
	random := rand.New(rand.NewPCG(1, 2))
	var sum, squares float64
	for range repeats {
		mrr := 0.
		for _, n := range candidates {
			mrr += 1 / float64(1+random.Int64N(n)) / float64(len(candidates))
		}
		sum += mrr
		squares += mrr * mrr
	}
	mean := sum / repeats
	deviation := math.Sqrt(squares/repeats - mean*mean)
	got := chance.MRR()
	if !(math.Abs(got.MRR-mean) <= 5*deviation/math.Sqrt(repeats)) {
		t.Errorf("the MRR is %.5f, drawn ranks have %.5f", got.MRR, mean)
	}
	if !(math.Abs(got.Error-deviation) <= 0.01*deviation) {
		t.Errorf("the standard error is %.5f, drawn ranks have %.5f", got.Error, deviation)
	}
}

// TestChanceIsContinuous compares the expansions with the sums where one begins and the other ends.
func TestChanceIsContinuous(t *testing.T) {
	t.Parallel()
	mean, square := inverses(64)
	nextMean, nextSquare := inverses(65)
	if want := (mean*64 + 1./65) / 65; !(math.Abs(nextMean-want) <= 1e-9) {
		t.Errorf("the mean of 65 inverse ranks is %.12f, want %.12f", nextMean, want)
	}
	if want := (square*64 + 1./(65*65)) / 65; !(math.Abs(nextSquare-want) <= 1e-9) {
		t.Errorf("the mean of 65 inverse squares is %.12f, want %.12f", nextSquare, want)
	}
	var none Chance
	if none.MRR().MRR != 0 {
		t.Errorf("without queries the MRR is %g", none.MRR().MRR)
	}
}
