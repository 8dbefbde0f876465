package interpreter

import (
	"math/bits"
	"strings"
)

// whole are the integers that PTX computes with.
type whole interface {
	~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64
}

// integer compiles integer arithmetic.
func (b *builder) integer(op, operands []string) (func(*warp), error) {
	t := op[len(op)-1]
	if len(op) < 2 || t[0] != 's' && t[0] != 'u' && t[0] != 'b' || typeBytes(t) == 0 {
		return nil, nil
	}
	name := strings.Join(op[:len(op)-1], ".")
	r, err := b.allValues(operands)
	if err != nil {
		return nil, err
	}
	do := bitwise(name, t, r)
	if do == nil {
		do = arithmetic(name, t, r)
	}
	switch name {
	case "mul.wide", "shr":
		return hot(name+"."+t, r, do), nil
	}
	return hot(name, r, do), nil
}

// arithmetic compiles an integer operation for its type, t. It returns nil for another operation,
// type, or number of rows.
func arithmetic(name, t string, r []int) func(*warp) {
	switch t {
	case "s16":
		return integers[int16](name, t, r)
	case "u16", "b16":
		return integers[uint16](name, t, r)
	case "s32":
		return integers[int32](name, t, r)
	case "u32", "b32":
		return integers[uint32](name, t, r)
	case "s64":
		return integers[int64](name, t, r)
	case "u64", "b64":
		return integers[uint64](name, t, r)
	}
	return nil
}

// integers returns the operation on a type, nil for an unknown one.
func integers[T whole](name, t string, r []int) func(*warp) {
	switch name {
	case "add":
		return binary(r, func(x, y uint64) uint64 { return x + y })
	case "sub":
		return binary(r, func(x, y uint64) uint64 { return x - y })
	case "mul.lo":
		return binary(r, func(x, y uint64) uint64 { return x * y })
	case "mad.lo":
		return ternary(r, func(x, y, z uint64) uint64 { return x*y + z })
	case "mul.hi":
		if t != "s32" {
			return nil
		}
		return binary(r, func(x, y uint64) uint64 { return uint64(int64(int32(x)) * int64(int32(y)) >> 32) })
	case "mul.wide":
		return binary(r, func(x, y uint64) uint64 { return uint64(int64(T(x))) * uint64(int64(T(y))) })
	case "div":
		return binary(r, func(x, y uint64) uint64 {
			if T(y) == 0 {
				return ^uint64(0) // unspecified; cards give all ones
			}
			return uint64(T(x) / T(y))
		})
	case "rem":
		return binary(r, func(x, y uint64) uint64 {
			if T(y) == 0 {
				return x // unspecified; cards give the dividend
			}
			return uint64(T(x) % T(y))
		})
	case "shl":
		return binary(r, func(x, y uint64) uint64 { return x << uint32(y) })
	case "shr": // by 32 and more: 0, or the sign
		return binary(r, func(x, y uint64) uint64 { return uint64(T(x) >> uint32(y)) })
	case "neg":
		return unary(r, func(x uint64) uint64 { return -x })
	case "min":
		return binary(r, func(x, y uint64) uint64 { return uint64(min(T(x), T(y))) })
	case "max":
		return binary(r, func(x, y uint64) uint64 { return uint64(max(T(x), T(y))) })
	case "bfind.shiftamt":
		if t != "u32" {
			return nil
		}
		return unary(r, func(x uint64) uint64 {
			if uint32(x) == 0 {
				return uint64(^uint32(0))
			}
			return uint64(bits.LeadingZeros32(uint32(x)))
		})
	}
	return nil
}
