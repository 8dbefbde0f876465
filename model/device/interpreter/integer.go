package interpreter

import (
	"math/bits"
	"slices"
)

type whole interface {
	~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64
}

// integer compiles integer arithmetic.
func (b *builder) integer(op, operands []string) (func(*warp), error) {
	t := op[len(op)-1]
	if len(op) < 2 || t[0] != 's' && t[0] != 'u' && t[0] != 'b' || typeBytes(t) == 0 {
		return nil, nil
	}
	name := op[0]
	if name == "mul" || name == "mad" {
		if len(op) != 3 {
			return nil, nil
		}
		name += "." + op[1]
	}
	if slices.Contains(op, "cc") || name == "addc" || name == "subc" {
		return nil, nil // the carry flag is not kept
	}
	if name == "shf" && len(op) == 4 {
		name += "." + op[1] + "." + op[2]
	}
	if name == "bfind" && op[1] == "shiftamt" {
		name += ".shiftamt"
	}
	if name == "prmt" && len(op) != 2 {
		return nil, nil
	}
	if op[1] == "sat" {
		if t != "s32" {
			return nil, nil
		}
		name += ".sat"
	}
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

func arithmetic(name, t string, r []int) func(*warp) {
	switch t {
	case "s16":
		return integers[int16](name, r, true)
	case "u16", "b16":
		return integers[uint16](name, r, false)
	case "s32":
		return integers[int32](name, r, true)
	case "u32", "b32":
		return integers[uint32](name, r, false)
	case "s64":
		return integers[int64](name, r, true)
	case "u64", "b64":
		return integers[uint64](name, r, false)
	}
	return nil
}

// integers returns the operation on a type, nil for an unknown one.
func integers[T whole](name string, r []int, signed bool) func(*warp) {
	size := uint(8 * typeSize[T]())
	switch name {
	case "add":
		return binary(r, func(x, y uint64) uint64 { return x + y })
	case "sub":
		return binary(r, func(x, y uint64) uint64 { return x - y })
	case "add.sat":
		return binary(r, func(x, y uint64) uint64 { return saturate32(int64(int32(x)) + int64(int32(y))) })
	case "sub.sat":
		return binary(r, func(x, y uint64) uint64 { return saturate32(int64(int32(x)) - int64(int32(y))) })
	case "mul.lo":
		return binary(r, func(x, y uint64) uint64 { return x * y })
	case "mad.lo":
		return ternary(r, func(x, y, z uint64) uint64 { return x*y + z })
	case "mul.hi":
		return binary(r, func(x, y uint64) uint64 { return high[T](x, y, size, signed) })
	case "mad.hi":
		return ternary(r, func(x, y, z uint64) uint64 { return high[T](x, y, size, signed) + z })
	case "mul.wide":
		return binary(r, func(x, y uint64) uint64 { return uint64(int64(T(x))) * uint64(int64(T(y))) })
	case "mad.wide":
		return ternary(r, func(x, y, z uint64) uint64 { return uint64(int64(T(x)))*uint64(int64(T(y))) + z })
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
	case "abs":
		return unary(r, func(x uint64) uint64 { return uint64(max(T(x), -T(x))) })
	case "min":
		return binary(r, func(x, y uint64) uint64 { return uint64(min(T(x), T(y))) })
	case "max":
		return binary(r, func(x, y uint64) uint64 { return uint64(max(T(x), T(y))) })
	case "sad":
		return ternary(r, func(x, y, z uint64) uint64 { return uint64(max(T(x), T(y))-min(T(x), T(y))) + z })
	case "bfind", "bfind.shiftamt":
		return unary(r, func(x uint64) uint64 {
			v := uint64(T(x))
			if signed && T(x) < 0 {
				v = ^v
			}
			n := bits.Len64(v & (1<<size - 1))
			if n == 0 {
				return uint64(^uint32(0))
			}
			if name == "bfind" {
				return uint64(n - 1)
			}
			return uint64(int(size) - n)
		})
	case "bfe":
		return ternary(r, func(x, at, n uint64) uint64 { return extract(uint64(T(x)), uint(at&255), uint(n&255), size, signed) })
	}
	return nil
}

func typeSize[T whole]() int {
	n := 0
	for x := T(1); x != 0; x <<= 8 {
		n++
	}
	return n
}

func saturate32(x int64) uint64 { return uint64(min(max(x, -1<<31), 1<<31-1)) }

// high returns the upper half of a product.
func high[T whole](x, y uint64, size uint, signed bool) uint64 {
	if size < 64 {
		return uint64(int64(uint64(T(x))*uint64(T(y))) >> size)
	}
	h, _ := bits.Mul64(x, y)
	if signed {
		if int64(x) < 0 {
			h -= y
		}
		if int64(y) < 0 {
			h -= x
		}
	}
	return h
}

// extract returns n bits of x from a position; signed, filled with the sign, which is the last bit of the field or of x.
func extract(x uint64, at, n, size uint, signed bool) uint64 {
	if n == 0 {
		return 0
	}
	if size < 64 && !signed {
		x &= 1<<size - 1
	}
	sign := uint64(0)
	if signed {
		sign = x >> min(at+n-1, size-1) & 1
	}
	field := x & (1<<(size-1)<<1 - 1) >> at
	if n < 64 {
		field &= 1<<n - 1
	}
	if sign == 0 {
		return field
	}
	for i := uint(0); i < size; i++ {
		if i >= n || at+i >= size {
			field |= 1 << i
		}
	}
	return field
}
