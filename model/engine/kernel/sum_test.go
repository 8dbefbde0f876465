package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestSumHasThePortableBits checks that sums of messages have the same bits in each variant, for every option
// and division of the columns into stripes, also where numbers are not finite.
func TestSumHasThePortableBits(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(31, 32))
		for o := range eachOption {
			for _, dim := range []int{16, 32, 48, 64, 112} {
				rarity := 50 * rng.IntN(2)
				o.draw = func(rng *rand.Rand, n int) []float32 { return wild(rng, n, rarity) }
				r := newReceivers(rng, dim, 9, DistMult, Sum, o, func(i, kind int) int { return rng.IntN(2 + 30*(i%2)) })
				r.MeanFactor = nil
				want := make([]float32, r.Count()*r.Width())
				portable{}.Aggregate(r, want)
				got, check := guarded(len(want))
				k.Aggregate(r, got)
				what := fmt.Sprintf("%v, dim %d", o, dim)
				check(t, what)
				sameBits(t, what, got, want)
			}
		}
	})
}
