package kernel

// Fold handles four entries per iteration.
func (portable) Fold(out, a, b, c []float32, x, y float32) {
	a, b, c = a[:len(out)], b[:len(out)], c[:len(out)]
	i := 0
	for ; i+4 <= len(out); i += 4 {
		o, p, q, r := out[i:i+4:i+4], a[i:i+4:i+4], b[i:i+4:i+4], c[i:i+4:i+4]
		s0 := p[0] + float32(x*q[0]) + float32(y*r[0])
		s1 := p[1] + float32(x*q[1]) + float32(y*r[1])
		s2 := p[2] + float32(x*q[2]) + float32(y*r[2])
		s3 := p[3] + float32(x*q[3]) + float32(y*r[3])
		o[0], o[1], o[2], o[3] = s0, s1, s2, s3
	}
	for ; i < len(out); i++ {
		out[i] = a[i] + float32(x*b[i]) + float32(y*c[i])
	}
}

// FoldTwo reads the three matrices once for both sums.
func (portable) FoldTwo(first, second Folded, a, b, c []float32) {
	out, other := first.Out, second.Out
	other, a, b, c = other[:len(out)], a[:len(out)], b[:len(out)], c[:len(out)]
	for i := range out {
		p, q, r := a[i], b[i], c[i]
		out[i] = p + float32(first.X*q) + float32(first.Y*r)
		other[i] = p + float32(second.X*q) + float32(second.Y*r)
	}
}

// Unfold handles one entry per iteration.
func (portable) Unfold(a, b, c, gradient []float32, x, y float32) {
	a, b, c = a[:len(gradient)], b[:len(gradient)], c[:len(gradient)]
	for i, g := range gradient {
		a[i] += g
		b[i] += float32(x * g)
		c[i] += float32(y * g)
	}
}
