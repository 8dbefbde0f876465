package kernel

import (
	"math/rand/v2"
	"testing"
)

// TestAggregateZeroBoundaryEveryDim checks the default model's receivers other than the source, whose
// boundary is zero, in one block of dimensions, in several, and with a remainder.
func TestAggregateZeroBoundaryEveryDim(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(15, 16))
		for dim := 1; dim <= 2*backwardDims+1; dim++ {
			o := options{degree: dim%2 == 0, previous: true, draw: normal}
			if dim%3 == 0 {
				o.draw = grid // ties, and extremes that are zero
			}
			checkReceivers(t, k, newReceivers(rng, dim, 4, DistMult, PNA, o, func(i, kind int) int { return rng.IntN(5) }), rng)
		}
	})
}
