package kernel

import (
	"math/rand/v2"
	"testing"
)

func TestNoVectorBeyondTheEndIsRead(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(51, 52))
		for n := 1; n <= 40; n++ {
			a, b, c, d := pageEnd(t, normal(rng, n)), pageEnd(t, normal(rng, n)), pageEnd(t, normal(rng, n)), pageEnd(t, normal(rng, n))
			k.Add(a, b)
			k.ReLU(a, b)
			k.ReLUBackward(a, b, c)
			k.Adam(a, b, c, d, adamSteps[0])
			words := 1 + n%3
			k.DropoutMasks(pageEnd(t, make([]uint32, n*words)), pageEnd(t, make([]int32, n)), words, Dropout{})
			k.Transpose(pageEnd(t, make([]float32, 9*n)), pageEnd(t, make([]float32, 9*n)), 9, n)
		}
	})
}
