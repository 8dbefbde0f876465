package kernel

// columns are up to twelve adjacent columns of a matrix, each contiguous. A term's entries are
// then at constant distances from each other and need one address register. The length is that
// of a byte's range and one more, so that indexing by a byte, or the next entry, needs no bounds
// check.
type columns [12][257]float32

// multiplyPacked computes the columns of c += a b from j on, for some of the terms and for n rows
// of a that are stride entries apart. Terms are added two at a time; an odd one comes last.
func multiplyPacked(j int, c, a []float32, stride int, b []float32, n, m, terms int) {
	if even := terms &^ 1; even > 0 {
		multiplyEven(j, c, a, stride, b, n, m, even)
	}
	if last := terms - 1; last%2 == 0 {
		for i := range n {
			multiplyRow(j, c[i*m:(i+1)*m], a[i*stride+last:][:1], b[last*m:])
		}
	}
}

// multiplyEven is multiplyPacked for an even number of at least two terms.
func multiplyEven(j int, c, a []float32, stride int, b []float32, n, m, terms int) {
	var packed columns
	for takesTwelve(m - j) {
		packed.packTwelve(b[j:], m, terms)
		for i := range n {
			packed.addTwelve((*[12]float32)(c[i*m+j:]), a[i*stride:][:terms])
		}
		j += 12
	}
	for ; j+8 <= m; j += 8 {
		packed.packEight(b[j:], m, terms)
		for i := range n {
			packed.addEight((*[8]float32)(c[i*m+j:]), a[i*stride:][:terms])
		}
	}
	if j == m {
		return
	}
	for i := range n {
		multiplyRest(c[i*m:(i+1)*m], a[i*stride:][:terms], b, j)
	}
}

// packTwelve copies the first columns of a matrix with rows of m.
func (c *columns) packTwelve(b []float32, m, terms int) {
	at := 0
	for p := range terms {
		q, row := uint8(p), (*[12]float32)(b[at:at+12])
		c[0][q], c[1][q], c[2][q], c[3][q] = row[0], row[1], row[2], row[3]
		c[4][q], c[5][q], c[6][q], c[7][q] = row[4], row[5], row[6], row[7]
		c[8][q], c[9][q], c[10][q], c[11][q] = row[8], row[9], row[10], row[11]
		at += m
	}
}

// packEight is packTwelve for eight columns.
func (c *columns) packEight(b []float32, m, terms int) {
	at := 0
	for p := range terms {
		q, row := uint8(p), (*[8]float32)(b[at:at+8])
		c[0][q], c[1][q], c[2][q], c[3][q] = row[0], row[1], row[2], row[3]
		c[4][q], c[5][q], c[6][q], c[7][q] = row[4], row[5], row[6], row[7]
		at += m
	}
}

// addTwelve gives the bits of twelveTerms, with two terms per iteration.
func (c *columns) addTwelve(into *[12]float32, a []float32) {
	s0, s1, s2, s3, s4, s5 := into[0], into[1], into[2], into[3], into[4], into[5]
	s6, s7, s8, s9, s10, s11 := into[6], into[7], into[8], into[9], into[10], into[11]
	// The loop has no checks: c is known not to be nil, and both terms share one length.
	_ = c[0][0]
	second := a[1:]
	first := a[:len(second)]
	x, y := a[0], second[0]
	for p := uint(0); ; {
		q := uint(uint8(p))
		s0 += float32(x * c[0][q])
		s1 += float32(x * c[1][q])
		s2 += float32(x * c[2][q])
		s3 += float32(x * c[3][q])
		s4 += float32(x * c[4][q])
		s5 += float32(x * c[5][q])
		s6 += float32(x * c[6][q])
		s7 += float32(x * c[7][q])
		s8 += float32(x * c[8][q])
		s9 += float32(x * c[9][q])
		s10 += float32(x * c[10][q])
		s11 += float32(x * c[11][q])
		s0 += float32(y * c[0][q+1])
		s1 += float32(y * c[1][q+1])
		s2 += float32(y * c[2][q+1])
		s3 += float32(y * c[3][q+1])
		s4 += float32(y * c[4][q+1])
		s5 += float32(y * c[5][q+1])
		s6 += float32(y * c[6][q+1])
		s7 += float32(y * c[7][q+1])
		s8 += float32(y * c[8][q+1])
		s9 += float32(y * c[9][q+1])
		s10 += float32(y * c[10][q+1])
		s11 += float32(y * c[11][q+1])
		p += 2
		if p >= uint(len(second)) {
			break
		}
		x, y = first[p], second[p]
	}
	into[0], into[1], into[2], into[3], into[4], into[5] = s0, s1, s2, s3, s4, s5
	into[6], into[7], into[8], into[9], into[10], into[11] = s6, s7, s8, s9, s10, s11
}

// addEight gives the bits of eightTerms, with two terms per iteration.
func (c *columns) addEight(into *[8]float32, a []float32) {
	s0, s1, s2, s3, s4, s5, s6, s7 := into[0], into[1], into[2], into[3], into[4], into[5], into[6], into[7]
	// The loop has no checks: c is known not to be nil, and both terms share one length.
	_ = c[0][0]
	second := a[1:]
	first := a[:len(second)]
	x, y := a[0], second[0]
	for p := uint(0); ; {
		q := uint(uint8(p))
		s0 += float32(x * c[0][q])
		s1 += float32(x * c[1][q])
		s2 += float32(x * c[2][q])
		s3 += float32(x * c[3][q])
		s4 += float32(x * c[4][q])
		s5 += float32(x * c[5][q])
		s6 += float32(x * c[6][q])
		s7 += float32(x * c[7][q])
		s0 += float32(y * c[0][q+1])
		s1 += float32(y * c[1][q+1])
		s2 += float32(y * c[2][q+1])
		s3 += float32(y * c[3][q+1])
		s4 += float32(y * c[4][q+1])
		s5 += float32(y * c[5][q+1])
		s6 += float32(y * c[6][q+1])
		s7 += float32(y * c[7][q+1])
		p += 2
		if p >= uint(len(second)) {
			break
		}
		x, y = first[p], second[p]
	}
	into[0], into[1], into[2], into[3], into[4], into[5], into[6], into[7] = s0, s1, s2, s3, s4, s5, s6, s7
}
