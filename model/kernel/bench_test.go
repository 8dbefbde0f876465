package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// eachVariantBench runs a benchmark once for every variant that this machine can run.
func eachVariantBench(b *testing.B, name string, run func(b *testing.B, k Kernel)) {
	for _, k := range Available() {
		b.Run(name+"/"+k.Name(), func(b *testing.B) { run(b, k) })
	}
}

func perSecond(b *testing.B, each float64, unit string) {
	b.ReportMetric(each*float64(b.N)/b.Elapsed().Seconds()/1e9, unit)
}

func BenchmarkMultiply(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][3]int{{1000, 160, 32}, {1000, 32, 160}, {1000, 64, 64}, {11, 160, 32}, {3, 160, 32}, {1, 160, 32}} {
		n, inner, m := s[0], s[1], s[2]
		x, y, c := normal(rng, n*inner), normal(rng, inner*m), make([]float32, n*m)
		eachVariantBench(b, fmt.Sprintf("%dx%dx%d", n, inner, m), func(b *testing.B, k Kernel) {
			for b.Loop() {
				k.Multiply(c, x, y, n, inner, m, false)
			}
			perSecond(b, 2*float64(n*inner*m), "GFLOP/s")
		})
	}
}

func BenchmarkMultiplyTransposed(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][3]int{{1000, 160, 32}, {1000, 64, 64}, {5, 160, 32}} {
		n, inner, m := s[0], s[1], s[2]
		x, y, c := normal(rng, n*inner), normal(rng, n*m), make([]float32, inner*m)
		eachVariantBench(b, fmt.Sprintf("%dx%dx%d", inner, n, m), func(b *testing.B, k Kernel) {
			for b.Loop() {
				k.MultiplyTransposed(c, x, y, n, inner, m)
			}
			perSecond(b, 2*float64(n*inner*m), "GFLOP/s")
		})
	}
}
