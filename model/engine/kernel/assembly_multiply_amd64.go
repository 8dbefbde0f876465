package kernel

// Multiply adds the terms of an entry in the order of k, each by one fused operation, so a
// row's bits do not depend on how many rows are multiplied at once.
func (s *assembly) Multiply(c, a, b []float32, n, k, m int, add bool) {
	s.MultiplyRows(c, a, k, b, n, k, m, add)
}

// MultiplyRows computes panels of c = a b, for an a of any stride.
func (s *assembly) MultiplyRows(c, a []float32, stride int, b []float32, n, k, m int, add bool) {
	if n == 0 || k == 0 {
		s.portable.MultiplyRows(c, a, stride, b, n, k, m, add)
		return
	}
	s.panels(c[:n*m], a[:(n-1)*stride+k], b[:k*m], n, k, m, stride, 1, add)
}

// MultiplyTransposed adds the terms in the order of the rows, starting from zero or from c, as
// portable.MultiplyTransposed.
func (s *assembly) MultiplyTransposed(c, a, b []float32, n, k, m int, add bool) {
	s.MultiplyRowsTransposed(c, a, k, b, n, k, m, add)
}

// MultiplyRowsTransposed computes panels of c = transposed a b, for an a of any stride.
func (s *assembly) MultiplyRowsTransposed(c, a []float32, stride int, b []float32, n, k, m int, add bool) {
	if n == 0 && !add {
		clear(c[:k*m])
	}
	// A block's rows of a and b stay in the first two caches.
	const block = 64
	for first := 0; first < n; first += block {
		rows := min(block, n-first)
		s.panels(c[:k*m], a[first*stride:(first+rows-1)*stride+k], b[first*m:(first+rows)*m], k, rows, m, 1, stride, add || first > 0)
	}
}

// panels computes c [rows, m] = or += a b, for b [terms, m], element
// (i, p) of a being at i*aRow + p*aTerm.
func (s *assembly) panels(c, a, b []float32, rows, terms, m, aRow, aTerm int, add bool) {
	if len(a) == 0 || len(b) == 0 || len(c) == 0 {
		return
	}
	j := 0
	for ; j+2*s.floats <= m; j += 2 * s.floats {
		s.multiply(&c[j], &a[0], &b[j], rows, terms, 4*m, 4*aRow, 4*aTerm, 4*m, add)
	}
	for ; j < m; j += s.floats {
		mask := uint32(1)<<min(s.floats, m-j) - 1
		s.multiplyMasked(&c[j], &a[0], &b[j], rows, terms, 4*m, 4*aRow, 4*aTerm, 4*m, add, mask)
	}
}
