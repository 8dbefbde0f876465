package interpreter

import (
	"math"
	"slices"
	"strings"
)

// convert compiles cvt between integers, f32 and f64.
func (b *builder) convert(op, operands []string) (func(*warp), error) {
	if op[0] != "cvt" || len(op) < 3 || len(operands) != 2 {
		return nil, nil
	}
	r, err := b.allValues(operands)
	if err != nil {
		return nil, err
	}
	// The types are the last words, before them the rounding.
	to, from := op[len(op)-2], op[len(op)-1]
	rounding := strings.Join(op[1:len(op)-2], ".")
	if typeBytes(to) == 0 || typeBytes(from) == 0 || slices.Contains(op, "f16") {
		return nil, nil
	}
	// Integers are converted exactly, so they have no rounding. What is not supported leaves do nil.
	var do func(x uint64) uint64
	switch {
	case to[0] != 'f' && from[0] != 'f' && rounding == "":
		wide, narrow := extend(from), extend(to)
		do = func(x uint64) uint64 { return narrow(wide(x)) }
	case to[0] != 'f' && from[0] != 'f':
	case to[0] != 'f':
		do = floatToWhole(to, from, rounding)
	case from[0] != 'f':
		do = wholeToFloat(to, from, rounding)
	default:
		do = floatToFloat(to, from, rounding)
	}
	if do == nil {
		return nil, nil
	}
	return unary(r, do), nil
}

// extend returns the function that extends a value to 64 bits by zeros or its sign.
func extend(t string) func(x uint64) uint64 {
	switch t {
	case "s8":
		return func(x uint64) uint64 { return uint64(int8(x)) }
	case "s16":
		return func(x uint64) uint64 { return uint64(int16(x)) }
	case "s32":
		return func(x uint64) uint64 { return uint64(int32(x)) }
	case "u8", "b8":
		return func(x uint64) uint64 { return x & 0xff }
	case "u16", "b16":
		return func(x uint64) uint64 { return x & 0xffff }
	case "u32", "b32":
		return func(x uint64) uint64 { return x & 0xffffffff }
	}
	return func(x uint64) uint64 { return x }
}

// bounds returns the least and greatest value of a type, as bits.
func bounds(t string) (least, greatest uint64) {
	n := uint(8 * typeBytes(t))
	if t[0] == 's' {
		return -(uint64(1) << (n - 1)), 1<<(n-1) - 1
	}
	return 0, 1<<(n-1)<<1 - 1
}

var roundings = map[string]func(x float64) float64{"rni": math.RoundToEven, "rzi": math.Trunc, "rmi": math.Floor, "rpi": math.Ceil}

// floatToWhole clamps to the range of the type. NaN becomes 0.
func floatToWhole(to, from, rounding string) func(x uint64) uint64 {
	round := roundings[rounding]
	if round == nil {
		return nil
	}
	least, greatest := bounds(to)
	signed := to[0] == 's'
	low, high := 0.0, math.Ldexp(1, 8*typeBytes(to))
	if signed {
		high /= 2
		low = -high
	}
	return func(x uint64) uint64 {
		v := f64(x)
		if from == "f32" {
			v = float64(f32(x))
		}
		switch v = round(v); {
		case v != v:
			return 0
		case v <= low:
			return least
		case v >= high:
			return greatest
		case signed:
			return uint64(int64(v))
		}
		return uint64(v)
	}
}

// wholeToFloat returns the conversion of an integer type to f32 or f64, rounded to nearest, or nil for another rounding.
func wholeToFloat(to, from, rounding string) func(x uint64) uint64 {
	wide := extend(from)
	switch {
	case rounding != "rn":
		return nil
	case to == "f32" && from[0] == 's':
		return func(x uint64) uint64 { return bits32(float32(int64(wide(x)))) }
	case to == "f32":
		return func(x uint64) uint64 { return bits32(float32(wide(x))) }
	case from[0] == 's':
		return func(x uint64) uint64 { return math.Float64bits(float64(int64(wide(x)))) }
	}
	return func(x uint64) uint64 { return math.Float64bits(float64(wide(x))) }
}

// floatToFloat returns the conversion between f32 and f64, or of f32 to a whole number or to 0..1, or nil for another one.
func floatToFloat(to, from, rounding string) func(x uint64) uint64 {
	round := roundings[rounding]
	switch {
	case to == "f32" && from == "f32" && round != nil:
		return func(x uint64) uint64 { return bits32(float32(round(float64(f32(x))))) }
	case to == "f32" && from == "f32" && rounding == "sat":
		return clamped
	case to == "f64" && from == "f32" && rounding == "":
		return func(x uint64) uint64 { return math.Float64bits(float64(f32(x))) }
	case to == "f32" && from == "f64" && rounding == "rn":
		return func(x uint64) uint64 { return bits32(float32(f64(x))) }
	}
	return nil
}
