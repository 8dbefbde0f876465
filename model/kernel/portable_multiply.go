package kernel

// portableTerms is how many terms of a product are added before the next ones' part of b is
// looked at, which then stays in the nearest cache. It is the width of PNA's features of 32
// dimensions.
const portableTerms = 160

// packedRows is how many rows a product must have before packing columns for them pays.
const packedRows = 16

// Multiply adds the terms of every entry one after another, from zero or from what is in c,
// so a row's result does not depend on how many rows are multiplied at once.
func (p portable) Multiply(c, a, b []float32, n, k, m int, add bool) {
	p.MultiplyRows(c, a, k, b, n, k, m, add)
}

// MultiplyRows is what Multiply does, at another distance from row to row.
func (portable) MultiplyRows(c, a []float32, stride int, b []float32, n, k, m int, add bool) {
	multiplyFrom(0, c, a, stride, b, n, k, m, add)
}

// MultiplyColumns is what Multiply does, from a later column on.
func (portable) MultiplyColumns(c, a, b []float32, n, k, m, first int, add bool) {
	multiplyFrom(first, c, a, k, b, n, k, m, add)
}

// multiplyFrom computes the columns of c = a b, or c += a b, from j on.
func multiplyFrom(j int, c, a []float32, stride int, b []float32, n, k, m int, add bool) {
	for i := 0; i < n && !add; i++ {
		clear(c[i*m+j : (i+1)*m])
	}
	if n == 0 {
		return
	}
	for term := 0; term < k; term += portableTerms {
		terms := min(portableTerms, k-term)
		part := b[term*m : (term+terms)*m]
		if n >= packedRows {
			multiplyPacked(j, c, a[term:], stride, part, n, m, terms)
			continue
		}
		for i := range n {
			multiplyRow(j, c[i*m:(i+1)*m], a[i*stride+term:][:terms], part)
		}
	}
}

// MultiplyTransposed adds the terms in the order of the rows, starting from zero or from what is
// in c, so calls with the parts of a and b one after another, the later ones adding, give the same
// bits as a call with all.
func (p portable) MultiplyTransposed(c, a, b []float32, n, k, m int, add bool) {
	p.MultiplyRowsTransposed(c, a, k, b, n, k, m, add)
}

// MultiplyRowsTransposed is what MultiplyTransposed does, at another distance from row to row.
func (portable) MultiplyRowsTransposed(c, a []float32, stride int, b []float32, n, k, m int, add bool) {
	if !add {
		clear(c[:k*m])
	}
	const block = 64       // of rows, whose parts of a and b stay in the nearest cache
	var row [block]float32 // of a transposed
	for first := 0; first < n; first += block {
		terms := min(block, n-first)
		part := b[first*m : (first+terms)*m]
		for i := range k {
			for p, at := 0, first*stride+i; p < terms; p, at = p+1, at+stride {
				row[p] = a[at]
			}
			multiplyRow(0, c[i*m:(i+1)*m], row[:terms], part)
		}
	}
}

// multiplyRow computes c += sum over p of a[p] * (row p of b), in order of p, for the columns from
// j on.
func multiplyRow(j int, c, a, b []float32) {
	if len(a) == 0 {
		return
	}
	m := len(c)
	for takesTwelve(m - j) {
		twelveTerms((*[12]float32)(c[j:]), a, b[j:], m)
		j += 12
	}
	for ; j+8 <= m; j += 8 {
		eightTerms((*[8]float32)(c[j:]), a, b[j:], m)
	}
	multiplyRest(c, a, b, j)
}

// takesTwelve is whether twelve of so many columns are to go together. It leaves eight, or
// none, to those who can do that many at once, rather than up to seven to multiplyRest.
func takesTwelve(left int) bool { return left >= 20 || left >= 12 && left < 16 }

// twelveTerms adds the terms of twelve entries of a row, with their columns where they stand
// in b, whose rows have m entries. There has to be a term.
//
// The sums stay in registers. For that the compiler has to be kept from moving all loads and
// products up and all additions down, between which they take more registers than there are:
// it does not where a sum is used in the block that makes it, and a loop that tests at its
// end, and loads there what its next turn needs, is one block. So do all such loops here.
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

// eightTerms is twelveTerms for eight entries.
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

// multiplyRest does the last columns of a row, from j on, which are fewer than eight.
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
