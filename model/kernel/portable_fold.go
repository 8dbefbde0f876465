package kernel

// Fold adds three matrices, entry by entry.
func (portable) Fold(out, a, b, c []float32, x, y float32) {
	a, b, c = a[:len(out)], b[:len(out)], c[:len(out)]
	for i := range out {
		out[i] = a[i] + float32(x*b[i]) + float32(y*c[i])
	}
}

// FoldTwo is two folds.
func (p portable) FoldTwo(out, other, a, b, c []float32, x, y, otherX, otherY float32) {
	p.Fold(out, a, b, c, x, y)
	p.Fold(other, a, b, c, otherX, otherY)
}

// Unfold adds to three matrices, entry by entry.
func (portable) Unfold(a, b, c, gradient []float32, x, y float32) {
	a, b, c = a[:len(gradient)], b[:len(gradient)], c[:len(gradient)]
	for i, g := range gradient {
		a[i] += g
		b[i] += float32(x * g)
		c[i] += float32(y * g)
	}
}
