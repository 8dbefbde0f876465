package interpreter

import "math/bits"

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
