package mirror

import "math"

// CheckFinite sets Bad where one of the first n gradients is NaN or infinite.
func (p *Batch) CheckFinite(n int) {
	for _, g := range p.Gradients[:n] {
		if !(absolute(g) <= math.MaxFloat32) {
			p.Bad[0] |= 1
		}
	}
}

// AdamStep has the scalars of a step.
type AdamStep struct {
	Decay, OneMinusBeta1, Beta2, OneMinusBeta2, StepSize, Correction, Epsilon, Keep float32
}

// Adam makes a step, unless a gradient was not finite.
func (p *Batch) Adam(parameters, first, second []float32, s AdamStep) {
	if p.Bad[0] != 0 {
		return
	}
	for i, w := range parameters {
		w = float32(w * s.Keep)
		g := p.Gradients[i] + float32(s.Decay*w)
		first[i] += float32(s.OneMinusBeta1 * (g - first[i]))
		second[i] = float32(s.Beta2*second[i]) + float32(s.OneMinusBeta2*float32(g*g))
		parameters[i] = w - float32(s.StepSize*(first[i]/(root(second[i])/s.Correction+s.Epsilon)))
	}
}
