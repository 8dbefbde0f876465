package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// benchLengths are those of an array in a cache and of one in memory.
var benchLengths = []int{1 << 12, 3 << 20}

func BenchmarkAdd(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range benchLengths {
		sum, a := aligned(rng, n), make([]float32, n)
		eachVariantBench(b, fmt.Sprint(n), func(b *testing.B, k Kernel) {
			b.SetBytes(int64(12 * n))
			for b.Loop() {
				k.Add(sum, a)
			}
		})
	}
}

func BenchmarkAdam(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range benchLengths {
		weight, gradient, first, second := aligned(rng, n), aligned(rng, n), make([]float32, n), make([]float32, n)
		eachVariantBench(b, fmt.Sprint(n), func(b *testing.B, k Kernel) {
			b.SetBytes(int64(32 * n))
			for b.Loop() {
				k.Adam(weight, gradient, first, second, adamSteps[1]) // with decay: without gradients, means go denormal
			}
		})
	}
}

// BenchmarkDropoutMasks counts the bytes of the random numbers that are drawn.
func BenchmarkDropoutMasks(b *testing.B) {
	const n = 1000
	entities := make([]int32, n)
	for i := range entities {
		entities[i] = int32(i)
	}
	for _, words := range []int{1, 2} {
		kept := make([]uint32, n*words)
		eachVariantBench(b, fmt.Sprintf("dim%d", 32*words), func(b *testing.B, k Kernel) {
			b.SetBytes(int64(64 * n * words))
			for b.Loop() {
				k.DropoutMasks(kept, entities, words, Dropout{Seed: 1, Layer: 2, Threshold: 40000})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}

func BenchmarkTranspose(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, s := range [][2]int{{64, 32}, {160, 32}, {11520, 32}} {
		a := aligned(rng, s[0]*s[1])
		out := make([]float32, len(a))
		eachVariantBench(b, fmt.Sprintf("%dx%d", s[0], s[1]), func(b *testing.B, k Kernel) {
			b.SetBytes(int64(8 * len(a)))
			for b.Loop() {
				k.Transpose(out, a, s[0], s[1])
			}
		})
	}
}
