package kernel

// vectors has the assembly's loops over arrays, for a count that is a multiple of the floats
// in a register. portable handles the rest and gives the same bits.
type vectors struct {
	add          func(sum, a *float32, count int)
	product      func(out, a, b *float32, count int)
	relu         func(out, a *float32, count int)
	reluBackward func(out, a, gradient *float32, count int)

	adam func(weight, gradient, first, second *float32, count int,
		decay, firstShare, keep, secondShare, size, correction, epsilon float32)
	// dropoutMasks expects the layer in the upper half of 64 bits.
	dropoutMasks func(masks *uint32, entities *int32, count, words int, seed, layer uint64, threshold uint32)
	// transpose handles numbers of rows and columns that are multiples of 8.
	transpose func(out, a *float32, rows, columns, outRow, aRow int)
}

var vectorsAVX512 = vectors{
	add: addAVX512, product: productAVX512, relu: reluAVX512, reluBackward: reluBackwardAVX512, adam: adamAVX512, dropoutMasks: dropoutMasksAVX512,
	transpose: transposeAVX512,
}

var vectorsAVX2 = vectors{
	add: addAVX2, product: productAVX2, relu: reluAVX2, reluBackward: reluBackwardAVX2, adam: adamAVX2, dropoutMasks: dropoutMasksAVX2,
	transpose: transposeAVX2,
}

// Add handles whole vectors in assembly.
func (s *assembly) Add(sum, a []float32) {
	sum = sum[:len(a)]
	n := len(a) - len(a)%s.floats
	if n > 0 {
		s.add(&sum[0], &a[0], n)
	}
	s.portable.Add(sum[n:], a[n:])
}

// Product handles whole vectors in assembly.
func (s *assembly) Product(out, a, b []float32) {
	out, b = out[:len(a)], b[:len(a)]
	n := len(a) - len(a)%s.floats
	if n > 0 {
		s.product(&out[0], &a[0], &b[0], n)
	}
	s.portable.Product(out[n:], a[n:], b[n:])
}

// ReLU handles whole vectors in assembly.
func (s *assembly) ReLU(out, a []float32) {
	out = out[:len(a)]
	n := len(a) - len(a)%s.floats
	if n > 0 {
		s.relu(&out[0], &a[0], n)
	}
	s.portable.ReLU(out[n:], a[n:])
}

// ReLUBackward handles whole vectors in assembly.
func (s *assembly) ReLUBackward(out, a, gradient []float32) {
	out, gradient = out[:len(a)], gradient[:len(a)]
	n := len(a) - len(a)%s.floats
	if n > 0 {
		s.reluBackward(&out[0], &a[0], &gradient[0], n)
	}
	s.portable.ReLUBackward(out[n:], a[n:], gradient[n:])
}

// Adam handles whole vectors in assembly.
func (s *assembly) Adam(weight, gradient, first, second []float32, step AdamStep) {
	gradient, first, second = gradient[:len(weight)], first[:len(weight)], second[:len(weight)]
	n := len(weight) - len(weight)%s.floats
	if n > 0 {
		s.adam(&weight[0], &gradient[0], &first[0], &second[0], n,
			step.Decay, step.OneMinusBeta1, step.Beta2, step.OneMinusBeta2, step.StepSize, step.Correction, step.Epsilon)
	}
	s.portable.Adam(weight[n:], gradient[n:], first[n:], second[n:], step)
}

// DropoutMasks draws all masks in assembly.
func (s *assembly) DropoutMasks(masks []uint32, entities []int32, words int, d Dropout) {
	n := len(entities)
	if n == 0 || words == 0 {
		return
	}
	s.dropoutMasks(&masks[:n*words][0], &entities[0], n, words, d.Seed, uint64(d.Layer)<<32, uint32(d.Threshold))
}

// Transpose handles blocks of 8 by 8 in assembly, the edges in Go.
func (s *assembly) Transpose(out, a []float32, rows, columns int) {
	out, a = out[:rows*columns], a[:rows*columns]
	whole, across := rows&^7, columns&^7
	if whole > 0 && across > 0 {
		s.transpose(&out[0], &a[0], whole, across, 4*rows, 4*columns)
	}
	for i := range whole {
		for j := across; j < columns; j++ {
			out[j*rows+i] = a[i*columns+j]
		}
	}
	for i := whole; i < rows; i++ {
		for j := range columns {
			out[j*rows+i] = a[i*columns+j]
		}
	}
}
