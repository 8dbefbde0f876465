package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNormalizeDifference compares with the difference of two updates in float64, for lengths of rows with and without assembly
// and all numbers of rows that are computed together.
func TestNormalizeDifference(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(33, 34))
		for _, dim := range []int{5, 32, 64} {
			for n := range 40 {
				for _, bits := range []int{0, 1, 4, 5, 9, 13} {
					what := fmt.Sprintf("dim %d, %d rows, options %b", dim, n, bits)
					u := newUpdate(rng, dim, n, bits)
					u.InverseDeviation = nil
					const sharedCount = 50
					shared, rows := normal(rng, sharedCount*dim), make([]int32, n)
					base, both := make([]float64, n*dim), make([]float64, n*dim)
					for i := range n {
						rows[i] = int32(rng.IntN(sharedCount))
						for j := range dim {
							at := int(u.LinearRows[i])*dim + j
							base[at] = float64(shared[int(rows[i])*dim+j])
							if u.Bias != nil {
								base[at] += float64(u.Bias[j])
							}
							both[at] = base[at] + float64(u.Linear[at])
						}
					}
					alone := *u
					alone.Residual = nil
					want := make([]float64, n*dim)
					for i := range n {
						_, _, _, minuend := forward64(u, both, widen(u.Scale), widen(u.Shift), i)
						_, _, _, subtrahend := forward64(&alone, base, widen(u.Scale), widen(u.Shift), i)
						for j := range dim {
							want[u.rowOf(i)*dim+j] = minuend[j] - subtrahend[j]
						}
					}
					output, check := guarded(n * dim)
					u.Output = output
					before := slices.Clone(shared)
					k.NormalizeDifference(u, shared, rows)
					check(t, what)
					compare(t, what, u.Output, want, func(int) float64 { return 2e-5 })
					sameBits(t, what+", shared rows", shared, before)
				}
			}
		}
	})
}
