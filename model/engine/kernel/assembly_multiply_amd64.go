package kernel

// Multiply adds the terms of an entry in the order of Inner, each by one fused operation, so a
// row's bits do not depend on how many rows are multiplied at once.
func (s *assembly) Multiply(c, a, b []float32, p Product) {
	n, k, stride := p.Rows, p.Inner, p.stride()
	if n == 0 || k == 0 {
		s.portable.Multiply(c, a, b, p)
		return
	}
	s.panels(c[:n*p.Columns], a[:(n-1)*stride+k], b[:k*p.Columns], panel{rows: n, terms: k, columns: p.Columns, row: stride, term: 1, add: p.Add})
}

// MultiplyTransposed adds the terms in the order of the rows, starting from zero or from c, as
// portable.MultiplyTransposed.
func (s *assembly) MultiplyTransposed(c, a, b []float32, p Product) {
	n, k, m, stride := p.Rows, p.Inner, p.Columns, p.stride()
	if n == 0 && !p.Add {
		clear(c[:k*m])
	}
	// A block's rows of a and b stay in the first two caches.
	const block = 64
	for first := 0; first < n; first += block {
		terms := min(block, n-first)
		s.panels(c[:k*m], a[first*stride:(first+terms-1)*stride+k], b[first*m:(first+terms)*m],
			panel{rows: k, terms: terms, columns: m, row: 1, term: stride, add: p.Add || first > 0})
	}
}

// panel is the shape of c [rows, columns] = or += a b, for b [terms, columns], element (i, p) of a
// being at i*row + p*term.
type panel struct {
	rows, terms, columns, row, term int
	add                             bool
}

// panels computes a product, some columns at a time.
func (s *assembly) panels(c, a, b []float32, p panel) {
	if len(a) == 0 || len(b) == 0 || len(c) == 0 {
		return
	}
	m := p.columns
	j := 0
	for ; j+2*s.floats <= m; j += 2 * s.floats {
		s.multiply(&c[j], &a[0], &b[j], p.rows, p.terms, 4*m, 4*p.row, 4*p.term, 4*m, p.add)
	}
	for ; j < m; j += s.floats {
		mask := uint32(1)<<min(s.floats, m-j) - 1
		s.multiplyMasked(&c[j], &a[0], &b[j], p.rows, p.terms, 4*m, 4*p.row, 4*p.term, 4*m, p.add, mask)
	}
}
