package kernel

// portableTerms is the number of terms that are added to all rows before the next terms, so that their rows of b stay
// in the first-level cache. It is the width of PNA's features of 32 dimensions.
const portableTerms = 160

// packedRows is the number of rows from which packing columns is faster.
const packedRows = 16

// Multiply adds the terms of every entry in order, starting from zero or from c, so a row's result
// does not depend on the number of rows.
func (portable) Multiply(c, a, b []float32, p Product) {
	n, m, stride := p.Rows, p.Columns, p.stride()
	if !p.Add {
		clear(c[:n*m])
	}
	if n == 0 {
		return
	}
	for term := 0; term < p.Inner; term += portableTerms {
		terms := min(portableTerms, p.Inner-term)
		block := b[term*m : (term+terms)*m]
		if n >= packedRows {
			multiplyPacked(c, a[term:], block, Product{Rows: n, Inner: terms, Columns: m, Stride: stride})
			continue
		}
		for i := range n {
			multiplyRow(c[i*m:(i+1)*m], a[i*stride+term:][:terms], block)
		}
	}
}

// MultiplyTransposed adds the terms in the order of the rows, starting from zero or from c, so
// calls with consecutive blocks of rows of a and b, the later ones adding, give the same bits as
// one call with all rows. It takes a block of rows at a time.
func (portable) MultiplyTransposed(c, a, b []float32, p Product) {
	k, m, stride := p.Inner, p.Columns, p.stride()
	if !p.Add {
		clear(c[:k*m])
	}
	const block = 64       // of rows, which stay in the first-level cache
	var row [block]float32 // of a transposed
	for first := 0; first < p.Rows; first += block {
		terms := min(block, p.Rows-first)
		rows := b[first*m : (first+terms)*m]
		for i := range k {
			for term, at := 0, first*stride+i; term < terms; term, at = term+1, at+stride {
				row[term] = a[at]
			}
			multiplyRow(c[i*m:(i+1)*m], row[:terms], rows)
		}
	}
}

// multiplyRow computes c += sum over p of a[p] * (row p of b), in order of p.
func multiplyRow(c, a, b []float32) {
	if len(a) == 0 {
		return
	}
	j, m := 0, len(c)
	for takesTwelve(m - j) {
		twelveTerms((*[12]float32)(c[j:]), a, b[j:], m)
		j += 12
	}
	for ; j+8 <= m; j += 8 {
		eightTerms((*[8]float32)(c[j:]), a, b[j:], m)
	}
	multiplyRest(c, a, b, j)
}

// takesTwelve reports whether the next twelve of left columns are computed together. It leaves
// eight or none for the next loop, where up to seven would be left to multiplyRest, which is slow.
func takesTwelve(left int) bool { return left >= 20 || left >= 12 && left < 16 }

// twelveTerms adds at least one term of twelve entries of a row, reading the columns directly from
// b, whose rows have m entries.
//
// The sums must stay in registers. The compiler tends to move all loads and products up and all
// additions down, and then needs more registers than there are. It keeps the order where a sum is
// used in the basic block that computes it. A loop that tests at its end, and loads there what its next
// iteration needs, is one basic block; all such loops of this package have that form.
func twelveTerms(into *[12]float32, a, b []float32, m int) {
	s0, s1, s2, s3, s4, s5 := into[0], into[1], into[2], into[3], into[4], into[5]
	s6, s7, s8, s9, s10, s11 := into[6], into[7], into[8], into[9], into[10], into[11]
	x, row, at := a[0], (*[12]float32)(b), m
	for p := uint(1); ; p++ {
		s0 += float32(x * row[0])
		s1 += float32(x * row[1])
		s2 += float32(x * row[2])
		s3 += float32(x * row[3])
		s4 += float32(x * row[4])
		s5 += float32(x * row[5])
		s6 += float32(x * row[6])
		s7 += float32(x * row[7])
		s8 += float32(x * row[8])
		s9 += float32(x * row[9])
		s10 += float32(x * row[10])
		s11 += float32(x * row[11])
		if p >= uint(len(a)) {
			break
		}
		x, row = a[p], (*[12]float32)(b[at:at+12:at+12])
		at += m
	}
	into[0], into[1], into[2], into[3], into[4], into[5] = s0, s1, s2, s3, s4, s5
	into[6], into[7], into[8], into[9], into[10], into[11] = s6, s7, s8, s9, s10, s11
}

// eightTerms adds terms of eight entries of a row; see twelveTerms.
func eightTerms(into *[8]float32, a, b []float32, m int) {
	s0, s1, s2, s3, s4, s5, s6, s7 := into[0], into[1], into[2], into[3], into[4], into[5], into[6], into[7]
	x, row, at := a[0], (*[8]float32)(b), m
	for p := uint(1); ; p++ {
		s0 += float32(x * row[0])
		s1 += float32(x * row[1])
		s2 += float32(x * row[2])
		s3 += float32(x * row[3])
		s4 += float32(x * row[4])
		s5 += float32(x * row[5])
		s6 += float32(x * row[6])
		s7 += float32(x * row[7])
		if p >= uint(len(a)) {
			break
		}
		x, row = a[p], (*[8]float32)(b[at:at+8:at+8])
		at += m
	}
	into[0], into[1], into[2], into[3], into[4], into[5], into[6], into[7] = s0, s1, s2, s3, s4, s5, s6, s7
}

// packed holds up to twelve adjacent columns of a matrix, row by row: they are contiguous, while the
// rows of a wide matrix are far apart.
type packed [12 * portableTerms]float32

// multiplyPacked adds a product to c.
func multiplyPacked(c, a, b []float32, p Product) {
	n, terms, m, stride := p.Rows, p.Inner, p.Columns, p.Stride
	var columns packed
	j := 0
	for takesTwelve(m - j) {
		columns.pack(b[j:], m, terms, 12)
		for i := range n {
			twelveTerms((*[12]float32)(c[i*m+j:]), a[i*stride:][:terms], columns[:], 12)
		}
		j += 12
	}
	for ; j+8 <= m; j += 8 {
		columns.pack(b[j:], m, terms, 8)
		for i := range n {
			eightTerms((*[8]float32)(c[i*m+j:]), a[i*stride:][:terms], columns[:], 8)
		}
	}
	for i := 0; i < n && j < m; i++ {
		multiplyRest(c[i*m:(i+1)*m], a[i*stride:][:terms], b, j)
	}
}

// pack copies the first columns of a matrix with rows of m.
func (c *packed) pack(b []float32, m, terms, columns int) {
	for p := range terms {
		copy(c[p*columns:(p+1)*columns], b[p*m:])
	}
}

// multiplyRest computes the last columns of a row, from j on, fewer than eight.
func multiplyRest(c, a, b []float32, j int) {
	m := len(c)
	for ; j < m; j++ {
		sum, at := c[j], j
		for _, x := range a {
			sum += float32(x * b[at])
			at += m
		}
		c[j] = sum
	}
}
