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
	switch strings.Join(op[:len(op)-1], ".") {
	case "add.rn":
		return binary(r, func(x, y uint64) uint64 { return math.Float64bits(f64(x) + f64(y)) }), nil
	case "mul.rn":
		return binary(r, func(x, y uint64) uint64 { return math.Float64bits(f64(x) * f64(y)) }), nil
	case "rcp.rn":
		return unary(r, func(x uint64) uint64 { return math.Float64bits(1 / f64(x)) }), nil
	case "sqrt.rn":
		return unary(r, func(x uint64) uint64 { return math.Float64bits(math.Sqrt(f64(x))) }), nil
	}
	return nil, nil
}
