package interpreter

import "math/bits"

// bitwise compiles operations on bits, whatever they mean.
func bitwise(name, t string, r []int) func(*warp) {
	// low has ones in the bits of the type.
	low := uint64(1)<<(4*typeBytes(t))<<(4*typeBytes(t)) - 1
	switch name {
	case "and":
		return binary(r, func(x, y uint64) uint64 { return x & y })
	case "or":
		return binary(r, func(x, y uint64) uint64 { return x | y })
	case "xor":
		return binary(r, func(x, y uint64) uint64 { return x ^ y })
	case "not":
		return unary(r, func(x uint64) uint64 { return ^x })
	case "popc":
		return unary(r, func(x uint64) uint64 { return uint64(bits.OnesCount64(x & low)) })
	case "clz":
		return unary(r, func(x uint64) uint64 { return uint64(bits.LeadingZeros64(x&low) - bits.LeadingZeros64(low)) })
	case "brev":
		return unary(r, func(x uint64) uint64 { return bits.Reverse64(x) >> bits.LeadingZeros64(low) })
	case "bfi":
		if len(r) != 5 {
			return nil
		}
		// Inserts the low n bits of from into into, at a bit; fields beyond the type are cut off.
		size := uint64(8 * typeBytes(t))
		return func(w *warp) {
			for m := w.mask; m != 0; m &= m - 1 {
				l := bits.TrailingZeros32(m) & 31
				from, into, at, n := w.r[r[1]][l], w.r[r[2]][l], w.r[r[3]][l]&255, w.r[r[4]][l]&255
				field := ^uint64(0)
				if n < 64 {
					field = 1<<n - 1
				}
				if at >= size {
					field = 0
				}
				field = field << at & low
				w.r[r[0]][l] = into&^field | from<<at&field
			}
		}
	case "shf.l.wrap":
		return ternary(r, func(x, y, by uint64) uint64 { return (x&0xffffffff | y<<32) << (by & 31) >> 32 })
	case "shf.r.clamp":
		return ternary(r, func(x, y, by uint64) uint64 { return (x&0xffffffff | y<<32) >> min(by&0xffffffff, 32) })
	case "prmt":
		// Each hexadecimal digit of how picks one of the eight bytes of y:x; with its highest bit, that byte's sign fills the result's.
		return ternary(r, func(x, y, how uint64) (out uint64) {
			v := x&0xffffffff | y<<32
			for i := range 4 {
				pick := how >> (4 * i)
				c := v >> (8 * (pick & 7)) & 255
				if pick&8 != 0 {
					c = uint64(byte(int8(c) >> 7))
				}
				out |= c << (8 * i)
			}
			return out
		})
	}
	return nil
}
