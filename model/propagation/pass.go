package propagation

import "tagnet/model/kernel"

// pass is a set of receivers that one layer updates alike. Rows are receivers.
type pass struct {
	layer     int // 0-based
	receivers kernel.Receivers
	entities  []int32   // [n]
	degrees   []int32   // [n], ascending as far as that can be: runs of one degree share a matrix
	own       []float32 // the residual, [n, dim], or nil for zeros
	output    []float32 // [n, dim]
	firstRow  int       // where its rows begin in the propagator's memory
}

// memory is what the way back needs of every row that a query updated.
type memory struct {
	features  []float32 // [rows, width]
	linear    []float32 // [rows, dim], normalized
	deviation []float32 // [rows]
	kept      []uint32  // [rows, words]
}

// reserve makes room for rows.
func (m *memory) reserve(rows, width, dim, words int) {
	m.features = grow(m.features, rows*width)
	m.linear = grow(m.linear, rows*dim)
	m.deviation = grow(m.deviation, rows)
	m.kept = grow(m.kept, rows*words)
}

// extend makes room for rows and keeps those that are.
func (m *memory) extend(rows, width, dim, words int) {
	m.features = extend(m.features, rows*width)
	m.linear = extend(m.linear, rows*dim)
	m.deviation = extend(m.deviation, rows)
	m.kept = extend(m.kept, rows*words)
}

// scratch is reused by every chunk of rows.
type scratch struct {
	memory             // of a chunk, where nothing is remembered
	features []float32 // gradient of a chunk's features, [chunk, width]
	update   []float32 // gradient of its linear map's output, [chunk, dim]
	matrix   []float32 // folded for a degree that has no group, [width, dim]
	turned   []float32 // its transpose
	scaled   []float32 // update under each scaler, [chunk, scalers dim]

	// What kernels are handed by address, kept here so that a call allocates nothing.
	receivers       kernel.Receivers
	normalize       kernel.Update
	gradients       kernel.Gradients
	updateGradients kernel.UpdateGradients
}

// chunkRows is how many receivers are aggregated before they are multiplied: few enough that
// their features (5 dim · 4 bytes each) stay in the second-level cache.
const chunkRows = 256

// keptWords is the number of words of a row's dropout mask.
func (p *Propagator) keptWords() int { return (p.configuration.Dim + 31) / 32 }

// chunk returns rows lo to hi of a pass as the kernel wants them.
func (x *pass) chunk(lo, hi, d int) kernel.Receivers {
	r := x.receivers
	r.Bounds = r.Bounds[4*lo : 4*hi]
	r.Divisor = r.Divisor[lo:hi]
	if r.Own != nil {
		r.Own = r.Own[lo*d : hi*d]
	}
	if r.Copies != nil {
		r.Copies = r.Copies[lo:hi]
	}
	return r
}

// forward updates the receivers of a pass: aggregate, linear map, norm, residual.
func (p *Propagator) forward(x *pass) {
	d, width := p.configuration.Dim, p.weights.width()
	for lo := 0; lo < len(x.entities); lo += chunkRows {
		hi := min(lo+chunkRows, len(x.entities))
		m := p.remembered(x, lo, hi)
		p.scratch.receivers = x.chunk(lo, hi, d)
		p.kernel.Aggregate(&p.scratch.receivers, m.features)
		p.multiply(x, lo, hi, m, width)
		p.scratch.normalize = p.updateOf(x, lo, hi, m)
		if p.scratch.normalize.Kept != nil {
			p.kernel.Keep(m.kept, x.entities[lo:hi], p.keptWords(), p.dropout.of(p.query.Seed, x.layer))
		}
		p.kernel.Normalize(&p.scratch.normalize)
	}
}

// remembered returns the memory of rows lo to hi: their own while training, or else scratch.
func (p *Propagator) remembered(x *pass, lo, hi int) memory {
	d, width, words := p.configuration.Dim, p.weights.width(), p.keptWords()
	from, rows := &p.memory, hi-lo
	at := x.firstRow + lo
	if !p.query.Training {
		p.scratch.reserve(chunkRows, width, d, words)
		from, at = &p.scratch.memory, 0
	}
	return memory{
		features:  from.features[at*width : (at+rows)*width],
		linear:    from.linear[at*d : (at+rows)*d],
		deviation: from.deviation[at : at+rows],
		kept:      from.kept[at*words : (at+rows)*words],
	}
}

// multiply applies the linear map, run by run of rows that share a degree.
func (p *Propagator) multiply(x *pass, lo, hi int, m memory, width int) {
	d := p.configuration.Dim
	bias := p.weights.layers[x.layer].bias
	for i := range hi - lo {
		copy(m.linear[i*d:(i+1)*d], bias)
	}
	p.eachRun(x, lo, hi, func(first, last int) {
		matrix, _ := p.matrices(x.layer, x.degrees[lo+first])
		p.kernel.Multiply(m.linear[first*d:last*d], m.features[first*width:last*width], matrix, last-first, width, d, bias != nil)
	})
}

// eachRun calls visit for every run of rows in lo to hi, relative to lo, that share a matrix.
func (p *Propagator) eachRun(x *pass, lo, hi int, visit func(first, last int)) {
	if p.weights.groups == nil {
		visit(0, hi-lo)
		return
	}
	for first := lo; first < hi; {
		last := first + 1
		for last < hi && x.degrees[last] == x.degrees[first] {
			last++
		}
		visit(first-lo, last-lo)
		first = last
	}
}

// matrices returns a layer's linear map for a degree, [width, dim], and while training its
// transpose. They are valid until the next call.
func (p *Propagator) matrices(layer int, degree int32) (matrix, transposed []float32) {
	w, d, width := p.weights, p.configuration.Dim, p.weights.width()
	group := w.group(degree)
	if group >= 0 {
		at := group * width * d
		matrix = w.layers[layer].folded[at : at+width*d]
		if w.training {
			transposed = w.layers[layer].transposed[at : at+width*d]
		}
		return matrix, transposed
	}
	p.scratch.matrix = grow(p.scratch.matrix, width*d)
	w.fold(&w.layers[layer], degree, p.scratch.matrix)
	if w.training {
		p.scratch.turned = grow(p.scratch.turned, width*d)
		transpose(p.scratch.turned, p.scratch.matrix, width, d)
	}
	return p.scratch.matrix, p.scratch.turned
}

// updateOf describes the last part of a chunk's update to the kernel.
func (p *Propagator) updateOf(x *pass, lo, hi int, m memory) kernel.Update {
	d := p.configuration.Dim
	layer := &p.weights.layers[x.layer]
	update := kernel.Update{
		Dim: d, Linear: m.linear, Deviation: m.deviation,
		Scale: layer.scale, Shift: layer.shift, Output: x.output[lo*d : hi*d],
	}
	if x.own != nil {
		update.Own = x.own[lo*d : hi*d]
	}
	if p.query.Training && p.dropout.threshold > 0 {
		update.Kept, update.KeptScale = m.kept, p.dropout.scale
	}
	return update
}

// backward takes the gradient of a pass's output back to all that it was made of. g receives
// the gradients of states and embeddings, residual that of the residual (nil: none is kept),
// and into those of the layer's parameters.
func (p *Propagator) backward(x *pass, gradient []float32, g kernel.Gradients, residual []float32, into *layerGradients) {
	d, width := p.configuration.Dim, p.weights.width()
	p.scratch.features = grow(p.scratch.features, chunkRows*width)
	p.scratch.update = grow(p.scratch.update, chunkRows*d)
	for lo := 0; lo < len(x.entities); lo += chunkRows {
		hi := min(lo+chunkRows, len(x.entities))
		m := p.remembered(x, lo, hi)
		rows := gradient[lo*d : hi*d]
		if residual != nil {
			p.kernel.Add(residual[lo*d:hi*d], rows)
		}
		linear := p.scratch.update[:(hi-lo)*d]
		p.scratch.normalize = p.updateOf(x, lo, hi, m)
		p.scratch.updateGradients = kernel.UpdateGradients{Linear: linear, Scale: into.scale, Shift: into.shift}
		p.kernel.NormalizeBackward(&p.scratch.normalize, rows, &p.scratch.updateGradients)
		if into.bias != nil {
			for i := range hi - lo {
				p.kernel.Add(into.bias, linear[i*d:(i+1)*d])
			}
		}
		features := p.scratch.features[:(hi-lo)*width]
		p.multiplyBackward(x, lo, hi, m, linear, features, into)
		p.scratch.receivers, p.scratch.gradients = x.chunk(lo, hi, d), g
		if g.Own != nil {
			p.scratch.gradients.Own = g.Own[lo*d : hi*d]
		}
		p.kernel.AggregateBackward(&p.scratch.receivers, m.features, features, &p.scratch.gradients)
	}
}

// multiplyBackward takes the gradient of the linear map's output to its input, features, and
// to its parameters. The first goes through the folded matrices, run by run; for the second
// each row is repeated under its scalers, which makes one product of all runs.
func (p *Propagator) multiplyBackward(x *pass, lo, hi int, m memory, linear, features []float32, into *layerGradients) {
	d, width := p.configuration.Dim, p.weights.width()
	p.eachRun(x, lo, hi, func(first, last int) {
		_, transposed := p.matrices(x.layer, x.degrees[lo+first])
		p.kernel.Multiply(features[first*width:last*width], linear[first*d:last*d], transposed, last-first, d, width, false)
	})
	scaled, scalers := linear, len(into.weight)/(width*d)
	if scalers == 3 {
		scaled = p.scale(x.degrees[lo:hi], linear)
	}
	p.kernel.MultiplyTransposed(into.weight, m.features, scaled, hi-lo, width, scalers*d)
}

// scale repeats rows, [n, dim], under PNA's three scalers, [n, 3 dim].
func (p *Propagator) scale(degrees []int32, rows []float32) []float32 {
	d := p.configuration.Dim
	p.scratch.scaled = grow(p.scratch.scaled, 3*len(rows))
	known, amplify, attenuate := int32(-1), float32(0), float32(0)
	for i, degree := range degrees {
		if degree != known {
			known = degree
			amplify, attenuate = p.weights.scalers(degree)
		}
		out := p.scratch.scaled[3*i*d : 3*(i+1)*d]
		identity, amplified, attenuated := out[:d], out[d:2*d], out[2*d:]
		for j, value := range rows[i*d : (i+1)*d] {
			identity[j], amplified[j], attenuated[j] = value, amplify*value, attenuate*value
		}
	}
	return p.scratch.scaled
}
