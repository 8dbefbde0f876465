package kernel

import "math"

// Add adds entry by entry.
func (portable) Add(sum, a []float32) { add(sum[:len(a)], a) }

// Product multiplies entry by entry.
func (portable) Product(out, a, b []float32) {
	out, b = out[:len(a)], b[:len(a)]
	for i, v := range a {
		out[i] = v * b[i]
	}
}

// ReLU leaves -0 unchanged.
func (portable) ReLU(out, a []float32) {
	out = out[:len(a)]
	for i, v := range a {
		if v < 0 {
			v = 0
		}
		out[i] = v
	}
}

// ReLUBackward goes entry by entry.
func (portable) ReLUBackward(out, a, gradient []float32) {
	out, gradient = out[:len(a)], gradient[:len(a)]
	for i, v := range a {
		by := float32(0)
		if v > 0 {
			by = gradient[i]
		}
		out[i] = by
	}
}

// Adam makes PyTorch's step, operation by operation.
func (portable) Adam(weight, gradient, first, second []float32, s AdamStep) {
	gradient, first, second = gradient[:len(weight)], first[:len(weight)], second[:len(weight)]
	for i, w := range weight {
		g := gradient[i] + float32(s.Decay*w)
		m := first[i] + float32(s.OneMinusBeta1*(g-first[i]))
		v := float32(s.Beta2*second[i]) + float32(s.OneMinusBeta2*float32(g*g))
		root := float32(math.Sqrt(float64(v)))
		weight[i] = w - float32(s.StepSize*(m/(root/s.Correction+s.Epsilon)))
		first[i], second[i] = m, v
	}
}

// DropoutMasks draws row by row.
func (portable) DropoutMasks(masks []uint32, entities []int32, words int, d Dropout) {
	for i, entity := range entities {
		d.drawRow(masks[i*words:(i+1)*words], entity)
	}
}

// drawRow draws the mask of an entity, a bit an entry: 0 drops it. It depends on seed, layer and entity alone.
func (d Dropout) drawRow(mask []uint32, entity int32) {
	state := mix(d.Seed ^ mix(uint64(d.Layer)<<32|uint64(uint32(entity))))
	for word := range mask {
		bits := uint32(0)
		for four := 0; four < 32; four += 4 {
			state += 0x9e3779b97f4a7c15
			random := mix(state)
			for i := range 4 {
				if uint16(random>>(16*i)) >= d.Threshold {
					bits |= 1 << (four + i)
				}
			}
		}
		mask[word] = bits
	}
}

// mix is the finalizer of SplitMix64 (Steele et al., OOPSLA 2014), random.Mix without its step: every bit of the result
// depends on every bit of x.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Transpose goes by blocks, which stay in the first-level cache on both sides.
func (portable) Transpose(out, a []float32, rows, columns int) {
	const block = 16
	for i0 := 0; i0 < rows; i0 += block {
		for j0 := 0; j0 < columns; j0 += block {
			for i := i0; i < min(i0+block, rows); i++ {
				for j := j0; j < min(j0+block, columns); j++ {
					out[j*rows+i] = a[i*columns+j]
				}
			}
		}
	}
}
