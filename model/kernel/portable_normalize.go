package kernel

import "math"

// Layer norm divides by sqrt(variance + normalizeEpsilon).
const normalizeEpsilon = 1e-5

// Normalize takes the mean and then the mean square around it, in two passes over a row.
func (portable) Normalize(u *Update) {
	d := u.Dim
	for n, at := range u.At {
		i, o := int(at), int(u.Rows[n])
		row := u.Linear[i*d : (i+1)*d]
		u.Deviation[i] = normalizeRow(row)
		out := u.Output[o*d : (o+1)*d]
		for j, x := range row {
			v := u.affine(j, x)
			if v < 0 {
				v = 0
			}
			out[j] = u.dropout(i, j, v)
		}
		if u.Own != nil {
			add(out, u.Own[o*d:(o+1)*d])
		}
	}
}

// normalizeRow normalizes a row and returns 1 / sqrt(variance + epsilon).
func normalizeRow(row []float32) float32 {
	sum := float32(0)
	for _, x := range row {
		sum += x
	}
	mean := sum / float32(len(row))
	squares := float32(0)
	for j, x := range row {
		x -= mean
		row[j] = x
		squares += float32(x * x)
	}
	variance := squares / float32(len(row))
	inverse := 1 / float32(math.Sqrt(float64(variance+normalizeEpsilon)))
	for j := range row {
		row[j] *= inverse
	}
	return inverse
}

// affine scales and shifts the normalized x of dimension j.
func (u *Update) affine(j int, x float32) float32 {
	if u.Scale != nil {
		return float32(u.Scale[j]*x) + u.Shift[j]
	}
	return x
}

// dropout is 0 where dimension j of row i is dropped, and the scaled v elsewhere.
func (u *Update) dropout(i, j int, v float32) float32 {
	if u.Kept == nil {
		return v
	}
	if u.Kept[i*((u.Dim+31)/32)+j/32]>>(j%32)&1 == 0 {
		return 0
	}
	return v * u.KeptScale
}

// NormalizeBackward leaves the gradient by the normalized values in g.Linear first, then
// takes out of it what a change of the row's mean and deviation undoes. gradient may be
// g.Linear itself where Rows and At are the same.
func (portable) NormalizeBackward(u *Update, gradient []float32, g *UpdateGradients) {
	d := u.Dim
	for n, at := range u.At {
		i, o := int(at), int(u.Rows[n])
		inverse, rowGradient := u.Deviation[i], gradient[o*d:(o+1)*d]
		row := u.Linear[i*d : (i+1)*d]
		into := g.Linear[i*d : (i+1)*d]
		sum, product := float32(0), float32(0)
		for j, x := range row {
			by := float32(0)
			if !(u.affine(j, x) <= 0) {
				by = u.dropout(i, j, rowGradient[j])
			}
			if g.Scale != nil {
				g.Scale[j] += float32(by * x)
			}
			if g.Shift != nil {
				g.Shift[j] += by
			}
			if u.Scale != nil {
				by *= u.Scale[j]
			}
			into[j] = by
			sum += by
			product += float32(by * x)
		}
		sum /= float32(d)
		product /= float32(d)
		for j, x := range row {
			into[j] = (into[j] - sum - float32(x*product)) * inverse
		}
	}
}
