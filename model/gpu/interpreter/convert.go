package interpreter

import (
	"math"
	"strings"
)

// convert compiles cvt between integers, and between int and f32.
func (b *builder) convert(op, operands []string) (func(*warp), error) {
	if op[0] != "cvt" || len(operands) != 2 {
		return nil, nil
	}
	r, err := b.allValues(operands)
	if err != nil {
		return nil, err
	}
	switch strings.Join(op[1:], ".") {
	case "rn.f32.s32":
		return unary(r, func(x uint64) uint64 { return bits32(float32(int32(x))) }), nil
	case "rni.f32.f32":
		return unary(r, func(x uint64) uint64 { return bits32(float32(math.RoundToEven(float64(f32(x))))) }), nil
	case "rzi.s32.f32":
		return unary(r, toInt), nil
	}
	// Integers are converted exactly, so they have no rounding.
	if len(op) != 3 || typeBytes(op[1]) == 0 || typeBytes(op[2]) == 0 || op[1][0] == 'f' || op[2][0] == 'f' {
		return nil, nil
	}
	wide, narrow := extend(op[2]), extend(op[1])
	return unary(r, func(x uint64) uint64 { return narrow(wide(x)) }), nil
}

// extend returns the function that extends a value to 64 bits by zeros or its sign.
func extend(t string) func(x uint64) uint64 {
	switch t {
	case "s16":
		return func(x uint64) uint64 { return uint64(int16(x)) }
	case "s32":
		return func(x uint64) uint64 { return uint64(int32(x)) }
	case "u16", "b16":
		return func(x uint64) uint64 { return x & 0xffff }
	case "u32", "b32":
		return func(x uint64) uint64 { return x & 0xffffffff }
	}
	return func(x uint64) uint64 { return x }
}

// toInt converts a float32 to an int32, towards 0 and clamped. NaN becomes 0.
func toInt(x uint64) uint64 {
	v := float64(f32(x))
	if v != v {
		return 0
	}
	return uint64(int32(max(math.MinInt32, min(v, math.MaxInt32))))
}
