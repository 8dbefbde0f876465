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
	}
	return nil
}
