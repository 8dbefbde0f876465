package kernel

import (
	"math"
	"testing"
)

func TestRectified(t *testing.T) {
	t.Parallel()
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	least := math.Float32frombits(1)
	for _, x := range []float32{0, least, 1.5, math.MaxFloat32, inf, nan} {
		if got := reluBits(math.Float32bits(x)); got != math.Float32bits(x) {
			t.Errorf("%v gives %#x", x, got)
		}
	}
	for _, x := range []float32{least, 1.5, math.MaxFloat32, inf} {
		if got := reluBits(math.Float32bits(-x)); got != 0 {
			t.Errorf("%v gives %#x", -x, got)
		}
	}
	if got := reluBits(1 << 31); got != 0 {
		t.Errorf("-0 gives %#x", got)
	}
	// What is not a number stays so with either sign: infinity - infinity has one.
	for _, bits := range []uint32{0x7fc00000, 0xffc00000, 0xff800001, 0xffffffff} {
		if got := reluBits(bits); got != bits {
			t.Errorf("%#x, not a number, gives %#x", bits, got)
		}
	}
}
