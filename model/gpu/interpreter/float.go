package interpreter

import (
	"math"
	"strings"
)

// bits32 returns the bits of a result. All NaN are the one that cards return.
func bits32(x float32) uint64 {
	if x != x {
		return 0x7fffffff
	}
	return uint64(math.Float32bits(x))
}

// fma32 returns x*y + z, rounded once.
func fma32(x, y, z float32) float32 {
	p, q := float64(x)*float64(y), float64(z) // the product is exact
	s := p + q
	if math.IsInf(s, 0) || math.IsNaN(s) {
		return float32(s)
	}
	t := s - p
	e := (p - (s - t)) + (q - t)
	if b := math.Float64bits(s); e != 0 && b&1 == 0 { // round to odd, so that the next rounding is right
		if (e > 0) == (s > 0) {
			s = math.Float64frombits(b + 1)
		} else {
			s = math.Float64frombits(b - 1)
		}
	}
	return float32(s)
}

// float compiles arithmetic on f32.
func (b *builder) float(op, operands []string) (func(*warp), error) {
	if op[len(op)-1] != "f32" {
		return nil, nil
	}
	r, err := b.allValues(operands)
	if err != nil {
		return nil, err
	}
	name := strings.Join(op[:len(op)-1], ".")
	if one := unary32[name]; one != nil {
		return unary(r, one), nil
	}
	if two := binary32[name]; two != nil {
		return hot(op[0]+".f32", r, binary(r, two)), nil
	}
	if name == "fma.rn" {
		return hot("fma.rn.f32", r, ternary(r, func(x, y, z uint64) uint64 { return bits32(fma32(f32(x), f32(y), f32(z))) })), nil
	}
	return nil, nil
}

var unary32 = map[string]func(x uint64) uint64{
	"neg":     func(x uint64) uint64 { return x ^ 1<<31 },
	"abs":     func(x uint64) uint64 { return x & (1<<31 - 1) },
	"rcp.rn":  func(x uint64) uint64 { return bits32(1 / f32(x)) },
	"sqrt.rn": func(x uint64) uint64 { return bits32(float32(math.Sqrt(float64(f32(x))))) },
}

var binary32 = map[string]func(x, y uint64) uint64{
	"add.rn": func(x, y uint64) uint64 { return bits32(f32(x) + f32(y)) },
	"sub.rn": func(x, y uint64) uint64 { return bits32(f32(x) - f32(y)) },
	"mul.rn": func(x, y uint64) uint64 { return bits32(f32(x) * f32(y)) },
	"div.rn": func(x, y uint64) uint64 { return bits32(f32(x) / f32(y)) },
	"max":    larger32,
}

// larger32 returns the larger number, 0 before -0. If one is NaN, it returns the other.
func larger32(x, y uint64) uint64 {
	switch a, b := f32(x), f32(y); {
	case a != a && b != b:
		return 0x7fffffff
	case a != a:
		return y
	case b != b:
		return x
	case a > b, a == b && x>>31&1 == 0:
		return x
	}
	return y
}
