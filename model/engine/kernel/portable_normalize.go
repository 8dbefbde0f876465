package kernel

import "math"

// Layer norm divides by sqrt(variance + normalizeEpsilon).
const normalizeEpsilon = 1e-5

// normalizedRows is the number of rows that go through each step together: the steps of one row
// depend on each other, steps of several rows run in parallel in the processor.
const normalizedRows = 16

// Normalize passes over a row three times: for its mean, its variance, and its output.
func (portable) Normalize(u *NodeUpdate) {
	for first := 0; first < len(u.LinearRows); first += normalizedRows {
		last := min(first+normalizedRows, len(u.LinearRows))
		u.normalizeRows(u.LinearRows[first:last], u.Rows[first:last])
	}
}

// normalizeRows handles at most normalizedRows rows.
func (u *NodeUpdate) normalizeRows(at, rows []int32) {
	var inverses [normalizedRows]float32
	u.center(at, &inverses)
	d := u.Dim
	for k, i := range at {
		if u.InverseDeviation != nil {
			u.InverseDeviation[i] = inverses[k]
		}
		u.activate(u.Linear[int(i)*d:][:d], int(i), int(rows[k])*d, inverses[k])
	}
}

// center adds the bias to rows of linear, subtracts their means, and sets inverses to
// 1 / sqrt(variance + epsilon).
func (u *NodeUpdate) center(at []int32, inverses *[normalizedRows]float32) {
	var means [normalizedRows]float32
	d, n := u.Dim, float32(u.Dim)
	for k, i := range at {
		row := u.Linear[int(i)*d:][:d]
		if u.Bias != nil {
			means[k] = addAndSum(row, u.Bias) / n
		} else {
			means[k] = sum(row) / n
		}
	}
	for k, i := range at {
		variance := center(u.Linear[int(i)*d:][:d], means[k]) / n
		inverses[k] = 1 / float32(math.Sqrt(float64(variance+normalizeEpsilon)))
	}
}

// activate finishes the centered row i of linear, whose output starts at entry o.
func (u *NodeUpdate) activate(row []float32, i, o int, inverse float32) {
	d := u.Dim
	out := u.Output[o : o+d]
	switch {
	case u.Scale == nil:
		activate(out, row, inverse)
	case u.Mask == nil && u.Residual != nil:
		activateOnto(out, u.Residual[o:o+d], row, inverse, u.Scale, u.Shift)
		return
	default:
		activateAffine(out, row, inverse, u.Scale, u.Shift)
	}
	if u.Mask != nil {
		dropout(out, u.maskWords(i), u.MaskScale)
	}
	if u.Residual != nil {
		add(out, u.Residual[o:o+d])
	}
}

// center subtracts the mean and returns the sum of the squares, in the order of dot.
func center(x []float32, mean float32) float32 {
	var a, b, c, d float32
	j := 0
	for ; j+4 <= len(x); j += 4 {
		four := x[j : j+4 : j+4]
		p, q, r, s := four[0]-mean, four[1]-mean, four[2]-mean, four[3]-mean
		four[0], four[1], four[2], four[3] = p, q, r, s
		a += float32(p * p)
		b += float32(q * q)
		c += float32(r * r)
		d += float32(s * s)
	}
	for ; j < len(x); j++ {
		x[j] -= mean
		a += float32(x[j] * x[j])
	}
	return (a + b) + (c + d)
}

// sum adds in four chains, since each addition waits for the previous one of its chain.
func sum(x []float32) float32 {
	var a, b, c, d float32
	j := 0
	for ; j+4 <= len(x); j += 4 {
		four := x[j : j+4 : j+4]
		a += four[0]
		b += four[1]
		c += four[2]
		d += four[3]
	}
	for ; j < len(x); j++ {
		a += x[j]
	}
	return (a + b) + (c + d)
}

// addAndSum adds y to x and returns the sum of x, in the order of sum.
func addAndSum(x, y []float32) float32 {
	y = y[:len(x)]
	var a, b, c, d float32
	j := 0
	for ; j+4 <= len(x); j += 4 {
		four, more := x[j:j+4:j+4], y[j:j+4:j+4]
		p, q, r, s := four[0]+more[0], four[1]+more[1], four[2]+more[2], four[3]+more[3]
		four[0], four[1], four[2], four[3] = p, q, r, s
		a += p
		b += q
		c += r
		d += s
	}
	for ; j < len(x); j++ {
		x[j] += y[j]
		a += x[j]
	}
	return (a + b) + (c + d)
}

// dot adds the products of x and y in four chains.
func dot(x, y []float32) float32 {
	y = y[:len(x)]
	var a, b, c, d float32
	j := 0
	for ; j+4 <= len(x); j += 4 {
		p, q := x[j:j+4:j+4], y[j:j+4:j+4]
		a += float32(p[0] * q[0])
		b += float32(p[1] * q[1])
		c += float32(p[2] * q[2])
		d += float32(p[3] * q[3])
	}
	for ; j < len(x); j++ {
		a += float32(x[j] * y[j])
	}
	return (a + b) + (c + d)
}

// activate scales a centered row to its normalized values and writes their ReLU to out.
func activate(out, row []float32, inverse float32) {
	out = out[:len(row)]
	for j := range row {
		x := row[j] * inverse
		row[j], out[j] = x, math.Float32frombits(reluBits(math.Float32bits(x)))
	}
}

// activateAffine scales a centered row to its normalized values, and writes the ReLU of scale times
// these plus shift to out.
func activateAffine(out, row []float32, inverse float32, scale, shift []float32) {
	out, scale, shift = out[:len(row)], scale[:len(row)], shift[:len(row)]
	for j := range row {
		x := row[j] * inverse
		row[j] = x
		out[j] = math.Float32frombits(reluBits(math.Float32bits(float32(scale[j]*x) + shift[j])))
	}
}

// activateOnto scales a centered row to its normalized values, and writes residual + ReLU(scale times
// these + shift) to out.
func activateOnto(out, residual, row []float32, inverse float32, scale, shift []float32) {
	out, residual, scale, shift = out[:len(row)], residual[:len(row)], scale[:len(row)], shift[:len(row)]
	for j := range row {
		x := row[j] * inverse
		row[j] = x
		out[j] = math.Float32frombits(reluBits(math.Float32bits(float32(scale[j]*x)+shift[j]))) + residual[j]
	}
}

// reluBits returns a float's bits, or 0 where it is at most 0; a NaN stays. Comparing integers takes
// no branch, and the processor could not predict the signs.
func reluBits(bits uint32) uint32 {
	const negativeZero, infinity = 1 << 31, 0xff << 23
	if bits-negativeZero <= infinity { // from -0 to -infinity; beyond it, it is not a number
		bits = 0
	}
	return bits
}

// maskWords returns the dropout mask of row i.
func (u *NodeUpdate) maskWords(i int) []uint32 {
	words := (u.Dim + 31) / 32
	return u.Mask[i*words : (i+1)*words]
}

// dropout scales the dimensions of a row that the mask keeps and sets the others to 0.
func dropout(row []float32, mask []uint32, scale float32) {
	for j, v := range row {
		keep := -(mask[j/32] >> (j % 32) & 1)
		row[j] = math.Float32frombits(math.Float32bits(v*scale) & keep)
	}
}

// NormalizeBackward first computes the gradient with respect to the normalized values in g.Linear, then that with
// respect to the row. gradient may be g.Linear itself where Rows and LinearRows are the same.
func (portable) NormalizeBackward(u *NodeUpdate, gradient []float32, g *NodeUpdateGradients) {
	d := u.Dim
	for n, at := range u.LinearRows {
		i, o := int(at), int(u.Rows[n])
		row, into := u.Linear[i*d:(i+1)*d], g.Linear[i*d:(i+1)*d]
		u.activateBackward(into, gradient[o*d:(o+1)*d], row)
		if u.Mask != nil {
			dropout(into, u.maskWords(i), u.MaskScale)
		}
		if g.Scale != nil {
			addProducts(g.Scale, into, row)
		}
		if g.Shift != nil {
			add(g.Shift[:d], into)
		}
		if u.Scale != nil {
			scaleRow(into, u.Scale)
		}
		normalizeRowBackward(into, row, u.InverseDeviation[i])
		if g.Bias != nil {
			add(g.Bias[:d], into)
		}
	}
}

// activateBackward propagates the gradient through the ReLU.
func (u *NodeUpdate) activateBackward(into, gradient, row []float32) {
	into, gradient = into[:len(row)], gradient[:len(row)]
	if u.Scale == nil {
		for j, x := range row {
			into[j] = reluGradient(gradient[j], x)
		}
		return
	}
	scale, shift := u.Scale[:len(row)], u.Shift[:len(row)]
	for j, x := range row {
		into[j] = reluGradient(gradient[j], float32(scale[j]*x)+shift[j])
	}
}

// reluGradient returns the gradient, or 0 where x is at most 0.
func reluGradient(gradient, x float32) float32 {
	bits := math.Float32bits(gradient)
	if reluBits(math.Float32bits(x)) == 0 {
		bits = 0
	}
	return math.Float32frombits(bits)
}

// addProducts computes into += x * y, entry by entry.
func addProducts(into, x, y []float32) {
	into, y = into[:len(x)], y[:len(x)]
	j := 0
	for ; j+4 <= len(x); j += 4 {
		four, p, q := into[j:j+4:j+4], x[j:j+4:j+4], y[j:j+4:j+4]
		four[0] += float32(p[0] * q[0])
		four[1] += float32(p[1] * q[1])
		four[2] += float32(p[2] * q[2])
		four[3] += float32(p[3] * q[3])
	}
	for ; j < len(x); j++ {
		into[j] += float32(x[j] * y[j])
	}
}

// scaleRow computes row *= scale, entry by entry.
func scaleRow(row, scale []float32) {
	scale = scale[:len(row)]
	for j := range row {
		row[j] *= scale[j]
	}
}

// normalizeRowBackward turns the gradient with respect to a row's normalized values into that with
// respect to the row.
func normalizeRowBackward(gradient, row []float32, inverse float32) {
	gradient = gradient[:len(row)]
	mean := sum(gradient) / float32(len(row))
	along := dot(gradient, row) / float32(len(row))
	for j, x := range row {
		gradient[j] = (gradient[j] - mean - float32(x*along)) * inverse
	}
}
