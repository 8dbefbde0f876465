package propagation

// linear is what applying the linear maps needs: the matrix of a degree, made when it is
// wanted. All of a layer's receivers of that degree follow, so it is made once a layer; to
// keep those of all degrees and layers would take more memory than a processor has near.
type linear struct {
	parts  *[3][]float32 // what matrix was made of
	degree int32         // for which it was made
	matrix []float32     // [width, dim], or transposed, [dim, width]

	gradient []float32 // of one matrix, [width, dim]
	product  []float32 // of mixed rows under one scaler or two, [chunk, dim] each
}

// fold makes the linear map of a degree out of those of its scalers, unless it was the last
// one made. The first fixed entries have no other scaler than the first.
func (p *Propagator) fold(parts *[3][]float32, degree int32, fixed int) []float32 {
	l := &p.linear
	if l.parts == parts && l.degree == degree {
		return l.matrix
	}
	if l.parts != parts {
		l.parts, l.matrix = parts, grow(l.matrix, len(parts[0]))
		copy(l.matrix[:fixed], parts[0])
	}
	l.degree = degree
	p.kernel.Fold(l.matrix[fixed:], parts[0][fixed:], parts[1][fixed:], parts[2][fixed:],
		p.weights.scaler(degree, 1), p.weights.scaler(degree, 2))
	return l.matrix
}

// multiply applies the linear map to a chunk's features, lane by lane; the bias comes later.
func (p *Propagator) multiply(x *pass, c *chunk, m memory) {
	d, width := p.configuration.Dim, p.weights.width()
	layer := &p.weights.layers[x.layer]
	for _, r := range c.runs {
		for lane := range p.lanes {
			first, last := lane*c.count+r.first, lane*c.count+r.last
			features, linear := m.features[first*width:last*width], m.linear[first*d:last*d]
			if r.degree == mixed {
				p.multiplyMixed(layer, c.degrees[r.first:r.last], features, linear)
				continue
			}
			matrix := p.fold(&layer.maps, r.degree, d*d)
			// A state that was not there before is zero, and so are its products.
			p.kernel.MultiplyRows(linear, features[d:], width, matrix[d*d:], r.fresh, width-d, d, false)
			p.kernel.Multiply(linear[r.fresh*d:], features[r.fresh*width:], matrix, last-first-r.fresh, width, d, false)
		}
	}
}

// multiplyMixed does rows of several degrees: a product for each scaler, put together row by
// row.
func (p *Propagator) multiplyMixed(layer *layerWeights, degrees []int32, features, linear []float32) {
	n, d, width := len(degrees), p.configuration.Dim, p.weights.width()
	p.kernel.Multiply(linear, features, layer.maps[0], n, width, d, false)
	if layer.maps[1] == nil {
		return
	}
	l := &p.linear
	l.product = grow(l.product, 2*n*d)
	amplified, attenuated := l.product[:n*d], l.product[n*d:]
	p.kernel.Multiply(amplified, features, layer.maps[1], n, width, d, false)
	p.kernel.Multiply(attenuated, features, layer.maps[2], n, width, d, false)
	for i, degree := range degrees {
		row := linear[i*d : (i+1)*d]
		p.kernel.Fold(row, row, amplified[i*d:(i+1)*d], attenuated[i*d:(i+1)*d], p.weights.scaler(degree, 1), p.weights.scaler(degree, 2))
	}
}

// multiplyBackward takes the gradient of the linear maps' output to their input, features,
// and to their parameters.
func (p *Propagator) multiplyBackward(x *pass, c *chunk, m memory, linear, features []float32, into *layerGradients) {
	d, width := p.configuration.Dim, p.weights.width()
	layer := &p.weights.layers[x.layer]
	for _, r := range c.runs {
		n := r.last - r.first
		rows, byRows := m.features[r.first*width:r.last*width], features[r.first*width:r.last*width]
		byLinear := linear[r.first*d : r.last*d]
		if r.degree == mixed {
			p.multiplyMixedBackward(layer, c.degrees[r.first:r.last], rows, byLinear, byRows, into)
			continue
		}
		p.kernel.Multiply(byRows, byLinear, p.fold(&layer.transposed, r.degree, 0), n, d, width, false)
		p.unfold(r.degree, rows, byLinear, into)
	}
}

// unfold adds the gradient of a degree's linear map to those of its scalers.
func (p *Propagator) unfold(degree int32, features, linear []float32, into *layerGradients) {
	d, width := p.configuration.Dim, p.weights.width()
	gradient := cleared(p.linear.gradient, width*d)
	p.linear.gradient = gradient
	p.kernel.MultiplyTransposed(gradient, features, linear, len(linear)/d, width, d)
	p.kernel.Unfold(into.maps[0], into.maps[1], into.maps[2], gradient, p.weights.scaler(degree, 1), p.weights.scaler(degree, 2))
}

// multiplyMixedBackward does rows of several degrees, each scaled for the scaler in turn.
func (p *Propagator) multiplyMixedBackward(layer *layerWeights, degrees []int32, rows, linear, features []float32, into *layerGradients) {
	n, d, width := len(degrees), p.configuration.Dim, p.weights.width()
	l := &p.linear
	l.product = grow(l.product, n*d)
	p.kernel.Multiply(features, linear, layer.transposed[0], n, d, width, false)
	p.kernel.MultiplyTransposed(into.maps[0], rows, linear, n, width, d)
	for k := 1; k < len(layer.maps) && layer.maps[k] != nil; k++ {
		for i, degree := range degrees {
			scaler := p.weights.scaler(degree, k)
			scaled := l.product[i*d : (i+1)*d]
			for j, value := range linear[i*d : (i+1)*d] {
				scaled[j] = scaler * value
			}
		}
		p.kernel.Multiply(features, l.product, layer.transposed[k], n, d, width, true)
		p.kernel.MultiplyTransposed(into.maps[k], rows, l.product, n, width, d)
	}
}
