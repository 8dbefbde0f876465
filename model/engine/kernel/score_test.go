package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func TestScore(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(51, 52))
		for width := range 301 {
			for _, n := range []int{0, 1, 5} {
				hidden, output, bias := normal(rng, n*width), normal(rng, width), float32(rng.NormFloat64())
				if width > 3 && n > 1 {
					hidden[3], hidden[width+1] = float32(math.NaN()), float32(math.Inf(1))
				}
				want, size := make([]float64, n), make([]float64, n)
				for i := range want {
					want[i] = float64(bias)
					for j, o := range output {
						term := max(float64(hidden[i*width+j]), 0) * float64(o)
						want[i] += term
						size[i] += math.Abs(term)
					}
				}
				values, check := guarded(n)
				k.Score(values, hidden, output, bias)
				check(t, fmt.Sprint("width ", width))
				compare(t, fmt.Sprint("width ", width), values, want, func(i int) float64 { return 1e-5 * (1 + size[i]) })
			}
		}
	})
}

func BenchmarkScore(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, width = 512, 64
	hidden, output, values := aligned(rng, n*width), aligned(rng, width), make([]float32, n)
	eachVariantBench(b, "512x64", func(b *testing.B, k Kernel) {
		for b.Loop() {
			k.Score(values, hidden, output, 1)
		}
		perSecond(b, 4*n*width, "GB/s")
		perSecond(b, 3*n*width, "GFLOP/s")
	})
}
