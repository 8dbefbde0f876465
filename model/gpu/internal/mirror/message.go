package mirror

// Message functions, as the kernels number them.
const (
	DistMult = iota
	TransE
	RotatE
)

// message returns the message of a state x along a relation with embedding w.
func (p *Batch) message(x, w []float32) []float32 {
	m := make([]float32, p.Dim)
	for j := range m {
		switch {
		case p.Message == TransE:
			m[j] = x[j] + w[j]
		case p.Message == DistMult:
			m[j] = float32(x[j] * w[j])
		case j%2 == 0:
			m[j] = fma(x[j], w[j], -float32(x[j+1]*w[j+1]))
			m[j+1] = fma(x[j], w[j+1], float32(x[j+1]*w[j]))
		}
	}
	return m
}

// passOn adds to the gradient of one of the two that a message is made of, from that of the message and the other.
func (p *Batch) passOn(sum, gradient, other []float32) {
	for j, g := range gradient[:p.Dim] {
		switch {
		case p.Message == TransE:
			sum[j] += g
		case p.Message == DistMult:
			sum[j] = fma(g, other[j], sum[j])
		case j%2 == 0:
			imaginary := gradient[j+1]
			sum[j] = fma(imaginary, other[j+1], fma(g, other[j], sum[j]))
			sum[j+1] = fma(-g, other[j+1], fma(imaginary, other[j], sum[j+1]))
		}
	}
}
