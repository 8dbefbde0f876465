package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// newUpdate makes an update of n rows; bits select affine, dropout, residual and bias.
func newUpdate(rng *rand.Rand, dim, n, bits int) *NodeUpdate {
	u := &NodeUpdate{Dim: dim, Rows: permutation(rng, n), LinearRows: permutation(rng, n), Linear: normal(rng, n*dim), InverseDeviation: make([]float32, n),
		Output: make([]float32, n*dim)}
	if bits&1 != 0 {
		u.Scale, u.Shift = normal(rng, dim), normal(rng, dim)
	}
	if bits&2 != 0 {
		u.Mask, u.MaskScale = make([]uint32, n*((dim+31)/32)), 1.25
		for i := range u.Mask {
			u.Mask[i] = rng.Uint32()
		}
	}
	if bits&4 != 0 {
		u.Residual = normal(rng, n*dim)
	}
	if bits&8 != 0 {
		u.Bias = normal(rng, dim)
	}
	return u
}

// rowOf returns the row of Residual and Output of row i of Linear.
func (u *NodeUpdate) rowOf(i int) int { return int(u.Rows[slices.Index(u.LinearRows, int32(i))]) }

func (u *NodeUpdate) factor(i, j int) float64 {
	if u.Mask == nil {
		return 1
	}
	if u.Mask[i*((u.Dim+31)/32)+j/32]&(1<<(j%32)) == 0 {
		return 0
	}
	return float64(u.MaskScale)
}

// forward64 computes one row of an update: 1/deviation, normalized values and output.
func forward64(u *NodeUpdate, linear, scale, shift []float64, i int) (inverse float64, normalized, pre, output []float64) {
	d := u.Dim
	row := linear[i*d : (i+1)*d]
	mean, variance := 0.0, 0.0
	for _, x := range row {
		mean += x / float64(d)
	}
	for _, x := range row {
		variance += (x - mean) * (x - mean) / float64(d)
	}
	inverse = 1 / math.Sqrt(variance+1e-5)
	for j, x := range row {
		v := (x - mean) * inverse
		normalized = append(normalized, v)
		if scale != nil {
			v = v*scale[j] + shift[j]
		}
		pre = append(pre, v)
		out := 0.0
		if f := u.factor(i, j); f != 0 {
			out = max(v, 0) * f
		}
		if u.Residual != nil {
			out += float64(u.Residual[u.rowOf(i)*d+j])
		}
		output = append(output, out)
	}
	return inverse, normalized, pre, output
}

// backward64 computes the gradients of all rows.
func backward64(u *NodeUpdate, linear, scale, shift, gradient []float64) (byLinear, byScale, byShift []float64) {
	d := u.Dim
	byLinear, byScale, byShift = make([]float64, len(linear)), make([]float64, d), make([]float64, d)
	for i := range u.InverseDeviation {
		inverse, normalized, pre, _ := forward64(u, linear, scale, shift, i)
		by := make([]float64, d)
		mean, along := 0.0, 0.0
		for j := range d {
			if pre[j] > 0 {
				by[j] = gradient[u.rowOf(i)*d+j] * u.factor(i, j)
			}
			byScale[j] += by[j] * normalized[j]
			byShift[j] += by[j]
			if scale != nil {
				by[j] *= scale[j]
			}
			mean += by[j] / float64(d)
			along += by[j] * normalized[j] / float64(d)
		}
		for j := range d {
			byLinear[i*d+j] = (by[j] - mean - normalized[j]*along) * inverse
		}
	}
	return byLinear, byScale, byShift
}

// checkUpdate compares both directions with the float64 computation.
func checkUpdate(t *testing.T, k Kernel, rng *rand.Rand, dim, n, bits int) {
	t.Helper()
	what := fmt.Sprintf("dim %d, %d rows, options %b", dim, n, bits)
	u := newUpdate(rng, dim, n, bits)
	linear, scale, shift := widen(u.Linear), widen(u.Scale), widen(u.Shift)
	for i := range linear {
		if u.Bias != nil {
			linear[i] += float64(u.Bias[i%dim])
		}
	}
	var inverse, normalized []float64
	output := make([]float64, n*dim)
	for i := range n {
		v, x, _, out := forward64(u, linear, scale, shift, i)
		inverse, normalized = append(inverse, v), append(normalized, x...)
		copy(output[u.rowOf(i)*dim:], out)
	}
	values, checkLinear := guarded(n * dim)
	copy(values, u.Linear)
	u.Linear = values
	var checkOutput, checkDeviation func(*testing.T, string)
	u.Output, checkOutput = guarded(n * dim)
	u.InverseDeviation, checkDeviation = guarded(n)
	k.Normalize(u)
	checkLinear(t, what)
	checkOutput(t, what)
	checkDeviation(t, what)
	compare(t, what+": deviation", u.InverseDeviation, inverse, func(i int) float64 { return 1e-5 * inverse[i] })
	compare(t, what+": normalized", u.Linear, normalized, func(int) float64 { return 3e-5 })
	compare(t, what+": output", u.Output, output, func(int) float64 { return 1e-4 })

	gradient := normal(rng, n*dim)
	byLinear, byScale, byShift := backward64(u, linear, scale, shift, widen(gradient))
	byBias := make([]float64, dim)
	for i, v := range byLinear {
		byBias[i%dim] += v
	}
	g := &NodeUpdateGradients{Bias: make([]float32, dim), Scale: make([]float32, dim), Shift: make([]float32, dim)}
	var check func(*testing.T, string)
	g.Linear, check = guarded(n * dim)
	k.NormalizeBackward(u, gradient, g)
	check(t, what)
	sums := func(int) float64 { return 1e-4 * math.Sqrt(float64(n+1)) }
	compare(t, what+": gradient of linear", g.Linear, byLinear, func(i int) float64 { return 1e-4 * (1 + inverse[i/dim]) })
	compare(t, what+": gradient of scale", g.Scale, byScale, sums)
	compare(t, what+": gradient of shift", g.Shift, byShift, sums)
	compare(t, what+": gradient of bias", g.Bias, byBias, func(int) float64 {
		return 1e-4 * (1 + slices.Max(append(inverse, 0))) * math.Sqrt(float64(n+1))
	})

	// In place, and without the sums.
	u.LinearRows = u.Rows
	k.NormalizeBackward(u, gradient, g)
	k.NormalizeBackward(u, gradient, &NodeUpdateGradients{Linear: gradient})
	compare(t, what+": in place", gradient, widen(g.Linear), func(int) float64 { return 0 })
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(21, 22))
		for bits := range 16 {
			for _, dim := range []int{3, 16, 32, 48, 64} {
				for n := range 12 {
					checkUpdate(t, k, rng, dim, n, bits)
				}
			}
			for n := 12; n <= 300; n += 7 {
				checkUpdate(t, k, rng, 32, n, bits)
			}
		}
		for dim := 1; dim <= 300; dim++ {
			checkUpdate(t, k, rng, dim, 3, rng.IntN(16))
		}
	})
}

// TestNormalizeForScoring checks that an update without a backward pass gives the bits of one with,
// whatever other rows hold.
func TestNormalizeForScoring(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(33, 34))
		for n := range 301 {
			checkForScoring(t, k, rng, []int{16, 32, 64, 3, 48}[n%5], n)
		}
		for dim := 1; dim <= 300; dim++ {
			checkForScoring(t, k, rng, dim, 1+dim%9)
		}
	})
}

func checkForScoring(t *testing.T, k Kernel, rng *rand.Rand, dim, n int) {
	t.Helper()
	scoring := newUpdate(rng, dim, n, rng.IntN(16)&^2)
	scoring.InverseDeviation = nil
	if n > 0 {
		scoring.Linear[rng.IntN(len(scoring.Linear))] = float32([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0}[rng.IntN(4)])
	}
	training := *scoring
	training.Linear, training.InverseDeviation, training.Output = slices.Clone(scoring.Linear), make([]float32, n), make([]float32, n*dim)
	k.Normalize(&training)
	what := fmt.Sprintf("dim %d, %d rows", dim, n)
	linear, checkLinear := guarded(n * dim)
	copy(linear, scoring.Linear)
	output, checkOutput := guarded(n * dim)
	scoring.Linear, scoring.Output = linear, output
	k.Normalize(scoring)
	checkLinear(t, what)
	checkOutput(t, what)
	for i, v := range output {
		if want := training.Output[i]; math.Float32bits(v) != math.Float32bits(want) && (v == v || want == want) {
			t.Fatalf("%s: output %d is %v, want %v", what, i, v, want)
		}
	}
}

// TestNormalizeEdges checks that a row of equal numbers is normalized to zeros, and that NaN stays in its
// own row unless it is dropped.
func TestNormalizeEdges(t *testing.T) {
	t.Parallel()
	eachVariant(t, func(t *testing.T, k Kernel) {
		rng := rand.New(rand.NewPCG(23, 24))
		u := newUpdate(rng, 32, 4, 3)
		u.Rows = u.LinearRows
		for j := range 32 {
			u.Linear[j] = 2.5
		}
		u.Linear[32+3], u.Linear[64+31] = float32(math.NaN()), float32(math.Inf(1))
		u.Mask[1] = 0xf0f0f0f0
		k.Normalize(u)
		for j := range 32 {
			if u.Linear[j] != 0 || u.Output[j] != 0 && u.Output[j] != max(0, u.Shift[j])*1.25 {
				t.Fatalf("a row of equals: %v gives %v", u.Linear[j], u.Output[j])
			}
			kept := u.Mask[1]>>j&1 == 1
			if got := u.Output[32+j]; kept != (got != got) {
				t.Fatalf("a row with NaN: output %d is %v, kept %v", j, got, kept)
			}
			if got := u.Linear[64+j]; got == got {
				t.Fatalf("a row with an infinity: normalized %d is %v", j, got)
			}
			if got := u.Linear[96+j]; got != got {
				t.Fatalf("NaN spread to another row")
			}
		}
	})
}

// TestReferenceNormalizeGradient compares the gradient in float64 with central differences.
func TestReferenceNormalizeGradient(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(25, 26))
	for bits := range 16 {
		u := newUpdate(rng, 5, 4, bits)
		linear, scale, shift, gradient := widen(u.Linear), widen(u.Scale), widen(u.Shift), widen(normal(rng, 20))
		loss := func() float64 {
			sum := 0.0
			for i := range 4 {
				_, _, _, out := forward64(u, linear, scale, shift, i)
				for j, v := range out {
					sum += v * gradient[u.rowOf(i)*5+j]
				}
			}
			return sum
		}
		byLinear, byScale, byShift := backward64(u, linear, scale, shift, gradient)
		for name, pair := range map[string][2][]float64{"linear": {linear, byLinear}, "scale": {scale, byScale}, "shift": {shift, byShift}} {
			for i := range pair[0] {
				const step = 1e-6
				was := pair[0][i]
				pair[0][i] = was + step
				up := loss()
				pair[0][i] = was - step
				down := loss()
				pair[0][i] = was
				if diff := math.Abs((up-down)/(2*step) - pair[1][i]); !(diff <= 1e-6*(1+math.Abs(pair[1][i]))) {
					t.Fatalf("%s[%d]: gradient %g, by differences %g", name, i, pair[1][i], (up-down)/(2*step))
				}
			}
		}
	}
}
