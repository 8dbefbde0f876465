package interpreter

import "math/bits"

// unary compiles an operation of one operand, in the active lanes: r has the rows of the result and of the operand. It
// returns nil unless r has two.
func unary(r []int, do func(x uint64) uint64) func(w *warp) {
	if len(r) != 2 {
		return nil
	}
	return func(w *warp) {
		d, a := &w.r[r[0]], &w.r[r[1]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			d[l] = do(a[l])
		}
	}
}

// binary compiles an operation of two operands: r has the rows of the result and of the operands. It returns nil unless
// r has three.
func binary(r []int, do func(x, y uint64) uint64) func(w *warp) {
	if len(r) != 3 {
		return nil
	}
	return func(w *warp) {
		d, a, b := &w.r[r[0]], &w.r[r[1]], &w.r[r[2]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			d[l] = do(a[l], b[l])
		}
	}
}

// ternary compiles an operation of three operands: r has the rows of the result and of the operands. It returns nil
// unless r has four.
func ternary(r []int, do func(x, y, z uint64) uint64) func(w *warp) {
	if len(r) != 4 {
		return nil
	}
	return func(w *warp) {
		d, a, b, c := &w.r[r[0]], &w.r[r[1]], &w.r[r[2]], &w.r[r[3]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			d[l] = do(a[l], b[l], c[l])
		}
	}
}
