package kernel

// Multiply adds the terms of every entry one after another, from zero or from what is in c,
// so a row's result does not depend on how many rows are multiplied at once.
func (p portable) Multiply(c, a, b []float32, n, k, m int, add bool) {
	p.MultiplyRows(c, a, k, b, n, k, m, add)
}

// MultiplyRows is what Multiply does, at another distance from row to row.
func (portable) MultiplyRows(c, a []float32, stride int, b []float32, n, k, m int, add bool) {
	if !add {
		clear(c[:n*m])
	}
	for i := range n {
		multiplyRow(c[i*m:(i+1)*m], a[i*stride:], 1, k, b)
	}
}

// MultiplyTransposed adds the terms in the order of the rows, starting from what is in c, so
// calls with the parts of a and b one after another give the same bits as a call with all.
func (portable) MultiplyTransposed(c, a, b []float32, n, k, m int) {
	// In blocks of rows, whose part of b stays in the nearest cache.
	const block = 64
	for first := 0; first < n; first += block {
		rows := min(block, n-first)
		for i := range k {
			multiplyRow(c[i*m:(i+1)*m], a[first*k+i:], k, rows, b[first*m:(first+rows)*m])
		}
	}
}

// multiplyRow computes c += sum over p < terms of a[p*stride] * (row p of b), in order of p.
func multiplyRow(c, a []float32, stride, terms int, b []float32) {
	m := len(c)
	p := 0
	for ; p+4 <= terms; p += 4 {
		a0, a1, a2, a3 := a[p*stride], a[(p+1)*stride], a[(p+2)*stride], a[(p+3)*stride]
		b0, b1, b2, b3 := b[p*m:][:m], b[(p+1)*m:][:m], b[(p+2)*m:][:m], b[(p+3)*m:][:m]
		for j := range c {
			c[j] = c[j] + float32(a0*b0[j]) + float32(a1*b1[j]) + float32(a2*b2[j]) + float32(a3*b3[j])
		}
	}
	for ; p < terms; p++ {
		a0, b0 := a[p*stride], b[p*m:][:m]
		for j := range c {
			c[j] += float32(a0 * b0[j])
		}
	}
}
