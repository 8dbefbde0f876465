package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// sameBits fails where two arrays differ in a bit; all NaN are equal.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i, g := range got {
		if w := want[i]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
			t.Fatalf("%s: [%d] of %d = %g, want %g", what, i, len(got), g, w)
		}
	}
}

// wild draws numbers of very different sizes, zeros of both signs, and sometimes NaN and infinities.
func wild(rng *rand.Rand, n int, rarity int) []float32 {
	strange := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), math.MaxFloat32, math.SmallestNonzeroFloat32}
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(rng.NormFloat64() * math.Pow(10, float64(rng.IntN(12)-8)))
		switch {
		case rng.IntN(9) == 0:
			out[i] = float32(math.Copysign(0, float64(rng.IntN(2))-.5))
		case rarity > 0 && rng.IntN(rarity) == 0:
			out[i] = strange[rng.IntN(len(strange))]
		}
	}
	return shifted(out)
}

// fill copies x to a guarded slice.
func fill(x []float32) (slice []float32, check func(*testing.T, string)) {
	slice, check = guarded(len(x))
	copy(slice, x)
	return slice, check
}

func TestAdd(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(41, 42))
		for n := range 301 {
			a, start := wild(rng, n, 7), wild(rng, n, 7)
			want := make([]float32, n)
			for i := range want {
				want[i] = start[i] + a[i]
			}
			sum, check := fill(start)
			k.Add(sum, a)
			check(t, "sum")
			sameBits(t, "sum", sum, want)
			longer, check := fill(append(slices.Clone(start), 3))
			k.Add(longer, a)
			check(t, "longer sum")
			sameBits(t, "longer sum", longer, append(want, 3))
		}
		k.Add(nil, nil)
	})
}

func TestProduct(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(47, 48))
		for n := range 301 {
			a, b := wild(rng, n, 7), wild(rng, n, 7)
			want := make([]float32, n)
			for i := range want {
				want[i] = a[i] * b[i]
			}
			out, check := guarded(n)
			k.Product(out, a, b)
			check(t, "product")
			sameBits(t, "product", out, want)
			k.Product(a, a, b)
			sameBits(t, "product in place", a, want)
		}
		k.Product(nil, nil, nil)
	})
}

func TestReLU(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(53, 54))
		for n := range 301 {
			a, gradient := wild(rng, n, 7), wild(rng, n, 7)
			want, wantBy := slices.Clone(a), make([]float32, n)
			for i, v := range a {
				if v < 0 {
					want[i] = 0
				}
				if v > 0 {
					wantBy[i] = gradient[i]
				}
			}
			out, check := guarded(n)
			k.ReLU(out, a)
			check(t, "relu")
			sameBits(t, "relu", out, want)
			by, check := guarded(n)
			k.ReLUBackward(by, a, gradient)
			check(t, "gradient")
			sameBits(t, "gradient", by, wantBy)
		}
	})
}

func TestFinite(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(59, 60))
	for n := range 40 {
		a := normal(rng, n)
		if n > 0 {
			a[rng.IntN(n)] = []float32{math.MaxFloat32, -math.MaxFloat32, math.SmallestNonzeroFloat32, 0}[n%4]
		}
		if !Finite(a) {
			t.Errorf("%v is said not to be finite", a)
		}
		for i, was := range a {
			for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
				if a[i] = bad; Finite(a) {
					t.Errorf("%v at %d of %d is said to be finite", bad, i, n)
				}
			}
			a[i] = was
		}
	}
}

var adamSteps = []AdamStep{
	{Decay: 0, OneMinusBeta1: .1, Beta2: .999, OneMinusBeta2: .001, StepSize: .05, Correction: .0316, Epsilon: 1e-8},
	{Decay: 1e-2, OneMinusBeta1: .1, Beta2: .999, OneMinusBeta2: .001, StepSize: 3e-3, Correction: .7, Epsilon: 1e-8},
	{Decay: .5, OneMinusBeta1: .25, Beta2: .5, OneMinusBeta2: .5, StepSize: -1, Correction: 1, Epsilon: 0},
}

// adamByHand evaluates the formula one operation at a time: it widens both numbers, computes in float64,
// and rounds to float32, which gives what float32 arithmetic gives.
func adamByHand(w, g, m, v float32, s AdamStep) (weight, first, second float32) {
	round := func(x float64) float32 { return float32(x) }
	times := func(a, b float32) float32 { return round(float64(a) * float64(b)) }
	plus := func(a, b float32) float32 { return round(float64(a) + float64(b)) }
	over := func(a, b float32) float32 { return round(float64(a) / float64(b)) }
	g = plus(g, times(s.Decay, w))
	m = plus(m, times(s.OneMinusBeta1, plus(g, -m)))
	v = plus(times(s.Beta2, v), times(s.OneMinusBeta2, times(g, g)))
	below := plus(over(round(math.Sqrt(float64(v))), s.Correction), s.Epsilon)
	return plus(w, -times(s.StepSize, over(m, below))), m, v
}

func TestAdam(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(45, 46))
		for n := range 301 {
			for _, s := range adamSteps {
				for _, rarity := range []int{0, 9} {
					w, g, m, v := wild(rng, n, rarity), wild(rng, n, rarity), wild(rng, n, rarity), wild(rng, n, rarity)
					for i := range v {
						v[i] = float32(math.Abs(float64(v[i])))
					}
					weight, checkWeight := fill(w)
					gradient, checkGradient := fill(g)
					first, checkFirst := fill(m)
					second, checkSecond := fill(v)
					k.Adam(weight, gradient, first, second, s)
					for _, check := range []func(*testing.T, string){checkWeight, checkGradient, checkFirst, checkSecond} {
						check(t, "step")
					}
					for i := range w {
						w[i], m[i], v[i] = adamByHand(w[i], g[i], m[i], v[i], s)
					}
					sameBits(t, "weight", weight, w)
					sameBits(t, "first", first, m)
					sameBits(t, "second", second, v)
					sameBits(t, "gradient", gradient, g)
				}
			}
		}
	})
}

// keptByHand decides one dimension by walking the sequence from its start.
func keptByHand(d Dropout, entity int32, dimension int) bool {
	finalize := func(z uint64) uint64 {
		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
		z = (z ^ (z >> 27)) * 0x94d049bb133111eb
		return z ^ (z >> 31)
	}
	key := uint64(d.Layer)*(1<<32) + uint64(uint32(entity))
	state := finalize(d.Seed ^ finalize(key))
	for range dimension/4 + 1 {
		state += 0x9e3779b97f4a7c15
	}
	draw := finalize(state) >> (dimension % 4 * 16) % 65536
	return draw >= uint64(d.Threshold)
}

func TestDropoutMasks(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(47, 48))
		for _, threshold := range []uint16{0, 1, 6554, 0x7fff, 0x8000, 45875, 65535} {
			for words := 1; words <= 4; words++ {
				for _, n := range []int{0, 1, 2, 3, 7, 64, 301} {
					d := Dropout{Seed: rng.Uint64(), Layer: rng.IntN(9), Threshold: threshold}
					entities := make([]int32, n)
					for i := range entities {
						entities[i] = rng.Int32()
					}
					if n > 2 {
						entities[0], entities[1], entities[2] = 0, math.MaxInt32, math.MinInt32
					}
					const zone, guard = 19, 0xdeadbeef
					all := slices.Repeat([]uint32{guard}, n*words+2*zone)
					k.DropoutMasks(all[zone:zone+n*words], entities, words, d)
					for i, word := range all {
						if outside := i < zone || i >= zone+n*words; outside {
							if word != guard {
								t.Fatalf("%d rows of %d words: wrote outside, at %d", n, words, i-zone)
							}
							continue
						}
						row, first := (i-zone)/words, (i-zone)%words*32
						for bit := range 32 {
							if want := keptByHand(d, entities[row], first+bit); want != (word>>bit&1 == 1) {
								t.Fatalf("threshold %d, row %d of %d, dimension %d: kept %v, want %v", threshold, row, n, first+bit, !want, want)
							}
						}
					}
				}
			}
		}
	})
}

// TestDropoutMasksAreStable pins some masks: a training that resumes from an older checkpoint must give
// the same bits.
func TestDropoutMasksAreStable(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		for _, c := range []struct {
			d      Dropout
			entity int32
			want   [3]uint32
		}{
			{Dropout{0x0123456789abcdef, 3, 6554}, 14540, [3]uint32{0xff7cffff, 0xcfffbff7, 0xfdffdfef}},
			{Dropout{1<<63 | 77, 0, 6554}, 0, [3]uint32{0x7ffffbff, 0xaf7fffff, 0xffeeffff}},
			{Dropout{0x0123456789abcdef, 3, 32768}, 14540, [3]uint32{0x3c603081, 0x072319d6, 0xedfd5c00}},
			{Dropout{1<<63 | 77, 0, 32768}, 0, [3]uint32{0x3633913a, 0x0845ff88, 0x8128771c}},
			{Dropout{0x0123456789abcdef, 3, 45875}, 14540, [3]uint32{0x1c201001, 0x012018c6, 0x89ed0800}},
			{Dropout{1<<63 | 77, 0, 45875}, 0, [3]uint32{0x34019118, 0x08458f08, 0x0128240c}},
		} {
			var got [3]uint32
			k.DropoutMasks(got[:], []int32{c.entity}, 3, c.d)
			if got != c.want {
				t.Errorf("%+v, entity %d: %#08x, want %#08x", c.d, c.entity, got, c.want)
			}
		}
	})
}

func TestTranspose(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(49, 50))
		try := func(rows, columns int) {
			a := wild(rng, rows*columns, 9)
			out, check := guarded(rows * columns)
			k.Transpose(out, a, rows, columns)
			check(t, "transpose")
			for i := range rows {
				for j := range columns {
					sameBits(t, "entry", out[j*rows+i:][:1], a[i*columns+j:][:1])
				}
			}
		}
		for rows := range 27 {
			for columns := range 27 {
				try(rows, columns)
			}
		}
		try(300, 32)
		try(1, 300)
		try(32, 301)
	})
}

func TestVectorsDoNotAllocate(t *testing.T) {
	eachVariant(t, func(t *testing.T, k Kernel) {
		a, b, c, d := make([]float32, 77), make([]float32, 77), make([]float32, 77), make([]float32, 77)
		kept, entities := make([]uint32, 22), make([]int32, 11)
		if count := testing.AllocsPerRun(50, func() {
			k.Add(a, b)
			k.ReLU(a, b)
			k.ReLUBackward(a, b, c)
			k.Adam(a, b, c, d, adamSteps[1])
			k.DropoutMasks(kept, entities, 2, Dropout{Seed: 5, Layer: 1, Threshold: 999})
			k.Transpose(a, b, 11, 7)
			if !Finite(c) {
				t.Error("zeros are not finite")
			}
		}); count >= 1 {
			t.Errorf("%v allocations a round", count)
		}
	})
}
