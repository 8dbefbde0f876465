package interpreter

import (
	"math"
	"strings"
)

// double compiles arithmetic on f64.
func (b *builder) double(op, operands []string) (func(*warp), error) {
	if op[len(op)-1] != "f64" {
		return nil, nil
	}
	r, err := b.allValues(operands)
	if err != nil {
		return nil, err
	}
	name := strings.Join(op[:len(op)-1], ".")
	if one := unary64[name]; one != nil {
		return unary(r, one), nil
	}
	if two := binary64[name]; two != nil {
		return binary(r, two), nil
	}
	if name == "fma.rn" || name == "mad.rn" {
		return ternary(r, func(x, y, z uint64) uint64 { return math.Float64bits(math.FMA(f64(x), f64(y), f64(z))) }), nil
	}
	return nil, nil
}

var unary64 = map[string]func(x uint64) uint64{
	"neg":     func(x uint64) uint64 { return x ^ 1<<63 },
	"abs":     func(x uint64) uint64 { return x & (1<<63 - 1) },
	"rcp.rn":  func(x uint64) uint64 { return math.Float64bits(1 / f64(x)) },
	"sqrt.rn": func(x uint64) uint64 { return math.Float64bits(math.Sqrt(f64(x))) },
}

var binary64 = map[string]func(x, y uint64) uint64{
	"add":      func(x, y uint64) uint64 { return math.Float64bits(f64(x) + f64(y)) },
	"add.rn":   func(x, y uint64) uint64 { return math.Float64bits(f64(x) + f64(y)) },
	"sub":      func(x, y uint64) uint64 { return math.Float64bits(f64(x) - f64(y)) },
	"sub.rn":   func(x, y uint64) uint64 { return math.Float64bits(f64(x) - f64(y)) },
	"mul":      func(x, y uint64) uint64 { return math.Float64bits(f64(x) * f64(y)) },
	"mul.rn":   func(x, y uint64) uint64 { return math.Float64bits(f64(x) * f64(y)) },
	"div.rn":   func(x, y uint64) uint64 { return math.Float64bits(f64(x) / f64(y)) },
	"min":      func(x, y uint64) uint64 { return smaller64(x, y) },
	"max":      func(x, y uint64) uint64 { return smaller64(x^1<<63, y^1<<63) ^ 1<<63 },
	"copysign": func(x, y uint64) uint64 { return x&(1<<63) | y&(1<<63-1) },
}

func smaller64(x, y uint64) uint64 {
	switch a, b := f64(x), f64(y); {
	case a != a:
		return y
	case b != b:
		return x
	case a < b, a == b && x>>63 == 1:
		return x
	}
	return y
}
