package mirror

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestFMA compares with exact arithmetic, also where the sum is halfway between two float32 values but for a small rest.
func TestFMA(t *testing.T) {
	t.Parallel()
	draw := rand.New(rand.NewPCG(1, 2))
	for range 200000 {
		x, y := float32(draw.NormFloat64()), float32(draw.NormFloat64())
		z := float32(math.Ldexp(draw.NormFloat64(), draw.IntN(80)-40))
		if draw.IntN(2) == 0 { // few bits, so that ties occur
			x, y = float32(1+draw.IntN(8))*(1+0x1p-23), float32(1+draw.IntN(8))*(1+0x1p-12)
			z = float32(math.Ldexp(float64(1+draw.IntN(8)), draw.IntN(80)-40))
		}
		exact := new(big.Float).SetPrec(300).Mul(big.NewFloat(float64(x)), big.NewFloat(float64(y)))
		want, _ := exact.Add(exact, big.NewFloat(float64(z))).Float32()
		if got := fma(x, y, z); math.Float32bits(got) != math.Float32bits(want) {
			t.Fatalf("fma(%g, %g, %g) is %g, want %g", x, y, z, got, want)
		}
	}
}

func TestExponentialAndLogarithm(t *testing.T) {
	t.Parallel()
	for i := range 10000 {
		x := float32(i-5000) / 60
		if want := math.Exp(float64(x)); !(math.Abs(float64(exponential(x))-want) <= 3e-7*want) {
			t.Errorf("exponential(%g) is %g, want %g", x, exponential(x), want)
		}
		y := float32(i) / 10000
		if want := math.Log1p(float64(y)); !(math.Abs(float64(logarithm1p(y))-want) <= 3e-7*want) {
			t.Errorf("logarithm1p(%g) is %g, want %g", y, logarithm1p(y), want)
		}
	}
}
