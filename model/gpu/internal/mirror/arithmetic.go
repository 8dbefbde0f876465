package mirror

import "math"

// fma returns x*y + z, rounded once. float32(math.FMA(x, y, z)) would round twice.
func fma(x, y, z float32) float32 {
	product, addend := float64(x)*float64(y), float64(z) // the product is exact
	sum := product + addend
	if math.IsInf(sum, 0) || math.IsNaN(sum) {
		return float32(sum)
	}
	// What the addition rounded off (Knuth). Where it is not 0, the sum's last bit is made 1 (rounding to odd), so that the sum
	// is never halfway between two float32 values by mistake.
	part := sum - product
	lost := (product - (sum - part)) + (addend - part)
	if lost != 0 && math.Float64bits(sum)&1 == 0 {
		sum = math.Nextafter(sum, math.Copysign(math.Inf(1), lost))
	}
	return float32(sum)
}

// larger is fmaxf: of a NaN and a number it returns the number.
func larger(x, y float32) float32 {
	switch {
	case x != x:
		return y
	case y != y:
		return x
	}
	return max(x, y)
}

// relu keeps a NaN.
func relu(x float32) float32 {
	if x < 0 {
		return 0
	}
	return x
}

func root(x float32) float32 { return float32(math.Sqrt(float64(x))) }

func absolute(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }

// pairs reduces a power of two values as lanes of a warp do: neighbors first, then neighboring results.
func pairs(values []float32, join func(x, y float32) float32) float32 {
	if len(values) == 1 {
		return values[0]
	}
	half := len(values) / 2
	return join(pairs(values[:half], join), pairs(values[half:], join))
}

func plus(x, y float32) float32 { return x + y }

// sumPairs adds a power of two values in the order of pairs.
func sumPairs(values []float32) float32 { return pairs(values, plus) }

// sumDims adds a value for each dimension as the lanes of a state do: fours, each as (0 + 1) + (2 + 3), then in pairs.
func sumDims(values []float32) float32 {
	fours := make([]float32, len(values)/4)
	for i := range fours {
		v := values[4*i:]
		fours[i] = (v[0] + v[1]) + (v[2] + v[3])
	}
	return sumPairs(fours)
}

// dotDims is sumDims of products, of which every second is fused with the sum.
func dotDims(x, y []float32) float32 {
	fours := make([]float32, len(x)/4)
	for i := range fours {
		a, b := x[4*i:], y[4*i:]
		fours[i] = fma(a[0], b[0], float32(a[1]*b[1])) + fma(a[2], b[2], float32(a[3]*b[3]))
	}
	return sumPairs(fours)
}

// dealt deals indices 0..n-1 to threads in turn: each calls do for its own, in order.
func dealt(n, threads int, do func(thread, i int)) {
	for i := range n {
		do(i%threads, i)
	}
}

// reduceBlock reduces a value of each of 256 threads: warps in pairs, then their results one after another.
func reduceBlock(values []float32, join func(x, y float32) float32) float32 {
	result := pairs(values[:32], join)
	for first := 32; first < len(values); first += 32 {
		result = join(result, pairs(values[first:first+32], join))
	}
	return result
}

func exponential(x float32) float32 {
	x = max(-87, min(x, 88)) // a NaN stays
	n := float32(math.RoundToEven(float64(float32(x * 1.44269504))))
	r := fma(n, -0.693145752, x)
	r = fma(n, -1.42860677e-6, r)
	e := fma(r, 1.0/5040, 1.0/720)
	for _, coefficient := range []float32{1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1, 1} {
		e = fma(e, r, coefficient)
	}
	return float32(e * math.Float32frombits(uint32(int32(n)+127)<<23))
}

// logarithm1p is log(1 + y) for 0 <= y <= 1: 2 atanh(y / (2 + y)).
func logarithm1p(y float32) float32 {
	s := y / (2 + y)
	z := float32(s * s)
	e := fma(z, 1.0/15, 1.0/13)
	for _, coefficient := range []float32{1.0 / 11, 1.0 / 9, 1.0 / 7, 0.2, 1.0 / 3, 1} {
		e = fma(e, z, coefficient)
	}
	return float32(2 * s * e)
}

func softplus(x float32) float32 { return relu(x) + logarithm1p(exponential(-absolute(x))) }

func sigmoid(x float32) float32 {
	e := exponential(-absolute(x))
	if x >= 0 {
		return 1 / (1 + e)
	}
	return e / (1 + e)
}
