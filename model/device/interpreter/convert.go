package interpreter

import (
	"cmp"
	"math"
	"math/big"
	"slices"
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
	to, from := op[len(op)-2], op[len(op)-1]
	rounding := ""
	flush, saturate := false, false
	for _, word := range op[1 : len(op)-2] {
		switch word {
		case "ftz":
			flush = true
		case "sat":
			saturate = true
		default:
			rounding = word
		}
	}
	if typeBytes(to) == 0 || typeBytes(from) == 0 || slices.Contains(op, "f16") {
		return nil, nil
	}
	var do func(x uint64) uint64
	switch {
	case to[0] != 'f' && from[0] != 'f':
		do = wholeToWhole(to, from, saturate)
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
	if flush && from == "f32" {
		inner := do
		do = func(x uint64) uint64 { return inner(flushed(x)) }
	}
	if to == "f32" && (flush || saturate) {
		inner := do
		do = func(x uint64) uint64 {
			x = inner(x)
			if flush {
				x = flushed(x)
			}
			if saturate {
				x = clamped(x)
			}
			return x
		}
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

func wholeToWhole(to, from string, saturate bool) func(x uint64) uint64 {
	wide, narrow := extend(from), extend(to)
	if !saturate {
		return func(x uint64) uint64 { return narrow(wide(x)) }
	}
	least, greatest := bounds(to)
	signed := from[0] == 's'
	return func(x uint64) uint64 {
		x = wide(x)
		negative := signed && int64(x) < 0
		switch {
		case negative && int64(x) < int64(least):
			return least
		case !negative && x > greatest:
			return greatest
		}
		return x
	}
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

func wholeToFloat(to, from, rounding string) func(x uint64) uint64 {
	wide := extend(from)
	limit, directed := directions[rounding]
	switch {
	case to == "f32" && directed:
		return func(x uint64) uint64 {
			exact := new(big.Float).SetUint64(wide(x))
			if from[0] == 's' {
				exact.SetInt64(int64(wide(x)))
			}
			v, _ := exact.Float32()
			return bits32(toward(v, big.NewFloat(float64(v)).Cmp(exact), limit))
		}
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

// directions holds the limits that roundings go towards which are not to the nearest.
var directions = map[string]float32{"rz": 0, "rm": float32(math.Inf(-1)), "rp": float32(math.Inf(1))}

// toward returns v, the float32 nearest to an exact value, or the one beside it if v lies on the side of the exact value
// that is away from a limit. compared is the comparison of v with the exact value.
func toward(v float32, compared int, limit float32) float32 {
	if v != v || compared == 0 || compared > 0 == (limit > v) {
		return v
	}
	return math.Nextafter32(v, limit)
}

func floatToFloat(to, from, rounding string) func(x uint64) uint64 {
	round := roundings[rounding]
	limit, directed := directions[rounding]
	switch {
	case to == "f32" && from == "f32" && round != nil:
		return func(x uint64) uint64 { return bits32(float32(round(float64(f32(x))))) }
	case to == "f32" && from == "f32" && rounding == "":
		return func(x uint64) uint64 { return bits32(f32(x)) }
	case to == "f64" && from == "f64" && round != nil:
		return func(x uint64) uint64 { return math.Float64bits(round(f64(x))) }
	case to == "f64" && from == "f32":
		return func(x uint64) uint64 { return math.Float64bits(float64(f32(x))) }
	case to == "f32" && from == "f64" && directed:
		return func(x uint64) uint64 {
			v := float32(f64(x))
			return bits32(toward(v, cmp.Compare(float64(v), f64(x)), limit))
		}
	case to == "f32" && from == "f64" && rounding == "rn":
		return func(x uint64) uint64 { return bits32(float32(f64(x))) }
	}
	return nil
}
