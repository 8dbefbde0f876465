package propagation

// linear is what applying the linear maps needs: the matrices of a degree and of the one that
// follows, made when they are wanted. All of a layer's receivers of a degree follow each other,
// so each is made once a layer; to keep those of all degrees and layers would take more memory
// than a processor has near.
type linear struct {
	parts    *[3][]float32 // what the matrices were made of
	degrees  [2]int32      // for which they were made, or mixed
	matrices [2][]float32  // [width, dim], or transposed, [dim, width]

	gradient []float32 // of one matrix, [width, dim]
	product  []float32 // of mixed rows under one scaler or two, [chunk, dim] each
}

// fold makes the linear map of a run's degree out of those of its scalers, unless it is among
// the last ones made, and that of the run behind it along with it. The first fixed entries
// have no other scaler than the first.
func (p *Propagator) fold(parts *[3][]float32, runs []run, fixed int) []float32 {
	l, m := &p.linear, &p.linear.matrices
	if l.parts != parts {
		l.parts, l.degrees = parts, [2]int32{mixed, mixed}
		for i := range m {
			m[i] = grow(m[i], len(parts[0]))
			copy(m[i][:fixed], parts[0])
		}
	}
	degree := runs[0].degree
	for i, made := range l.degrees {
		if made == degree {
			return m[i]
		}
	}
	a, b, c := parts[0][fixed:], parts[1][fixed:], parts[2][fixed:]
	x, y := p.weights.scaler(degree, 1), p.weights.scaler(degree, 2)
	l.degrees[0] = degree
	if len(runs) == 1 || runs[1].degree == mixed {
		p.kernel.Fold(m[0][fixed:], a, b, c, x, y)
		return m[0]
	}
	next := runs[1].degree
	l.degrees[1] = next
	p.kernel.FoldTwo(m[0][fixed:], m[1][fixed:], a, b, c, x, y, p.weights.scaler(next, 1), p.weights.scaler(next, 2))
	return m[0]
}

// multiply applies the linear map to a chunk's features, lane by lane; the bias comes later.
func (p *Propagator) multiply(x *pass, c *chunk, m memory) {
	d, width := p.configuration.Dim, p.weights.width()
	layer := &p.weights.layers[x.layer]
	for i, r := range c.runs {
		for lane := range p.lanes {
			first, last := lane*c.count+r.first, lane*c.count+r.last
			features, linear := m.features[first*width:last*width], m.linear[first*d:last*d]
			if r.degree == mixed {
				p.multiplyMixed(layer, c.degrees[r.first:r.last], features, linear)
				continue
			}
			matrix := p.fold(&layer.maps, c.runs[i:], d*d)
			// A state that was not there before is zero, and so are its products.
			p.kernel.MultiplyRows(linear, features[d:], width, matrix[d*d:], r.fresh, width-d, d, false)
			p.kernel.Multiply(linear[r.fresh*d:], features[r.fresh*width:], matrix, last-first-r.fresh, width, d, false)
		}
	}
}

// multiplyMixed does rows of several degrees: a product for each scaler, put together row by
// row. Own states have the first alone.
func (p *Propagator) multiplyMixed(layer *layerWeights, degrees []int32, features, linear []float32) {
	n, d, width := len(degrees), p.configuration.Dim, p.weights.width()
	p.kernel.Multiply(linear, features, layer.maps[0], n, width, d, false)
	if layer.maps[1] == nil {
		return
	}
	l := &p.linear
	l.product = grow(l.product, 2*n*d)
	amplified, attenuated := l.product[:n*d], l.product[n*d:]
	p.kernel.MultiplyRows(amplified, features[d:], width, layer.maps[1][d*d:], n, width-d, d, false)
	p.kernel.MultiplyRows(attenuated, features[d:], width, layer.maps[2][d*d:], n, width-d, d, false)
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
	for i, r := range c.runs {
		n := r.last - r.first
		rows, byRows := m.features[r.first*width:r.last*width], features[r.first*width:r.last*width]
		byLinear := linear[r.first*d : r.last*d]
		if r.degree == mixed {
			p.multiplyMixedBackward(layer, c.degrees[r.first:r.last], rows, byLinear, byRows, into)
			continue
		}
		// A state that was not there before needs no gradient. Its columns are left as they were:
		// a part that has no own states takes none.
		matrix := p.fold(&layer.transposed, c.runs[i:], 0)
		p.kernel.MultiplyColumns(byRows, byLinear, matrix, r.fresh, d, width, d, false)
		p.kernel.Multiply(byRows[r.fresh*width:], byLinear[r.fresh*d:], matrix, n-r.fresh, d, width, false)
		p.unfold(r, rows, byLinear, into)
	}
}

// unfold adds the gradient of a run's linear map to those of its scalers. States that were not
// there before are zero, and so is their share in it.
func (p *Propagator) unfold(r run, features, linear []float32, into *layerGradients) {
	d, width, n := p.configuration.Dim, p.weights.width(), r.last-r.first
	p.linear.gradient = grow(p.linear.gradient, width*d)
	gradient := p.linear.gradient
	p.kernel.MultiplyRowsTransposed(gradient, features[r.fresh*width:], width, linear[r.fresh*d:], n-r.fresh, d, d, false)
	p.kernel.MultiplyRowsTransposed(gradient[d*d:], features[d:], width, linear, n, width-d, d, false)
	p.kernel.Unfold(into.maps[0], into.maps[1], into.maps[2], gradient, p.weights.scaler(r.degree, 1), p.weights.scaler(r.degree, 2))
}

// multiplyMixedBackward does rows of several degrees, each scaled for the scaler in turn.
func (p *Propagator) multiplyMixedBackward(layer *layerWeights, degrees []int32, rows, linear, features []float32, into *layerGradients) {
	n, d, width := len(degrees), p.configuration.Dim, p.weights.width()
	l := &p.linear
	l.product = grow(l.product, n*d)
	p.kernel.Multiply(features, linear, layer.transposed[0], n, d, width, false)
	p.kernel.MultiplyTransposed(into.maps[0], rows, linear, n, width, d, true)
	for k := 1; k < len(layer.maps) && layer.maps[k] != nil; k++ {
		for i, degree := range degrees {
			scaler := p.weights.scaler(degree, k)
			scaled := l.product[i*d : (i+1)*d]
			for j, value := range linear[i*d : (i+1)*d] {
				scaled[j] = scaler * value
			}
		}
		p.kernel.Multiply(features, l.product, layer.transposed[k], n, d, width, true)
		p.kernel.MultiplyTransposed(into.maps[k], rows, l.product, n, width, d, true)
	}
}
