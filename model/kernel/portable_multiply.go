package kernel

// portableTerms is how many terms of a product are added before the next ones' part of b is
// looked at: their columns then fit on the stack, and stay in the nearest cache. It is the
// width of PNA's features of 32 dimensions.
const portableTerms = 160

// packedRows is how many rows a product must have before packing columns for them pays.
const packedRows = 16

// columns are eight neighboring columns of a matrix, four and four.
type columns struct{ left, right [portableTerms][4]float32 }

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
	if n == 0 {
		return
	}
	for first := 0; first < k; first += portableTerms {
		terms := min(portableTerms, k-first)
		part := b[first*m : (first+terms)*m]
		if n >= packedRows {
			multiplyPacked(c, a[first:], stride, part, n, m, terms)
			continue
		}
		for i := range n {
			multiplyRow(c[i*m:(i+1)*m], a[i*stride+first:][:terms], part)
		}
	}
}

// MultiplyTransposed adds the terms in the order of the rows, starting from what is in c, so
// calls with the parts of a and b one after another give the same bits as a call with all.
func (portable) MultiplyTransposed(c, a, b []float32, n, k, m int) {
	const block = 64       // of rows, whose parts of a and b stay in the nearest cache
	var row [block]float32 // of a transposed
	for first := 0; first < n; first += block {
		terms := min(block, n-first)
		part := b[first*m : (first+terms)*m]
		for i := range k {
			for p, at := 0, first*k+i; p < terms; p, at = p+1, at+k {
				row[p] = a[at]
			}
			multiplyRow(c[i*m:(i+1)*m], row[:terms], part)
		}
	}
}

// multiplyRow computes c += sum over p of a[p] * (row p of b), in order of p.
func multiplyRow(c, a, b []float32) {
	m := len(c)
	j := 0
	for ; j+8 <= m; j += 8 {
		addTerms((*[8]float32)(c[j:]), a, b, j, m)
	}
	multiplyRest(c, a, b, j)
}

// multiplyPacked computes c += a b for some of the terms, for n rows of a that are stride
// entries apart. Columns of b that stand together need fewer instructions to walk.
func multiplyPacked(c, a []float32, stride int, b []float32, n, m, terms int) {
	var packed columns
	j := 0
	for ; j+8 <= m; j += 8 {
		packed.pack(b, j, m, terms)
		for i := range n {
			addPacked((*[8]float32)(c[i*m+j:]), a[i*stride:][:terms], packed.left[:terms], packed.right[:terms])
		}
	}
	if j == m {
		return
	}
	for i := range n {
		multiplyRest(c[i*m:(i+1)*m], a[i*stride:][:terms], b, j)
	}
}

// pack copies the columns from j on of a matrix with rows of m.
func (c *columns) pack(b []float32, j, m, terms int) {
	left, right := c.left[:terms], c.right[:terms]
	for p := range left {
		row := (*[8]float32)(b[p*m+j:])
		left[p], right[p] = [4]float32(row[:4]), [4]float32(row[4:])
	}
}

// addPacked adds the terms of eight entries of a row. The sums stay in registers. That the
// compiler cannot know the length of right, and checks it at every term, is wanted: it moves
// all loads and products up to the last check, and eight at once leave too few registers.
func addPacked(into *[8]float32, a []float32, left, right [][4]float32) {
	s0, s1, s2, s3, s4, s5, s6, s7 := into[0], into[1], into[2], into[3], into[4], into[5], into[6], into[7]
	left = left[:len(a)]
	for p, x := range a {
		l := &left[p]
		s0 += float32(x * l[0])
		s1 += float32(x * l[1])
		s2 += float32(x * l[2])
		s3 += float32(x * l[3])
		r := &right[p]
		s4 += float32(x * r[0])
		s5 += float32(x * r[1])
		s6 += float32(x * r[2])
		s7 += float32(x * r[3])
	}
	into[0], into[1], into[2], into[3], into[4], into[5], into[6], into[7] = s0, s1, s2, s3, s4, s5, s6, s7
}

// addTerms is addPacked, bit for bit, with the columns from j on where they stand in b.
func addTerms(into *[8]float32, a, b []float32, j, m int) {
	s0, s1, s2, s3, s4, s5, s6, s7 := into[0], into[1], into[2], into[3], into[4], into[5], into[6], into[7]
	for _, x := range a {
		l := b[j : j+4 : j+4]
		s0 += float32(x * l[0])
		s1 += float32(x * l[1])
		s2 += float32(x * l[2])
		s3 += float32(x * l[3])
		r := b[j+4 : j+8 : j+8]
		s4 += float32(x * r[0])
		s5 += float32(x * r[1])
		s6 += float32(x * r[2])
		s7 += float32(x * r[3])
		j += m
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
