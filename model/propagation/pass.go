package propagation

import "tagnet/model/kernel"

// pass is one layer's update: of all the entities that the layer updates, in one or several
// parts, whose degrees ascend as far as that can be. Rows name entities in the parts' tables.
type pass struct {
	layer    int // 0-based
	parts    []part
	entities []int32 // by row
	degrees  []int32 // by row
	firstRow int     // where its updates begin in the propagator's memory
	count    int     // of updates
}

// part is a set of receivers whose states come from, and go to, the same tables.
type part struct {
	receivers kernel.Receivers // but for Rows and At
	rows      []int32          // that are updated
	own       []float32        // the residual, [rows, dim], or nil for zeros
	output    []float32        // [rows, dim]
	age       int              // of the states in output, within a window

	// Backward only: what takes the gradients of states and embeddings, the gradient of
	// output, and what takes that of the residual (nil: none is kept), each like its table.
	gradients kernel.Gradients
	gradient  []float32
	residual  []float32
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
	chunk    chunk
	memory   memory    // of a chunk, where nothing is remembered
	features []float32 // gradient of a chunk's features, [chunk, width]
	update   []float32 // gradient of its linear map's output, [chunk, dim]
	entities []int32   // of a chunk, in the order of its features

	// What kernels are handed by address, kept here so that a call allocates nothing.
	receivers       kernel.Receivers
	normalize       kernel.Update
	updateGradients kernel.UpdateGradients
}

// keptWords is the number of words of a row's dropout mask.
func (p *Propagator) keptWords() int { return (p.configuration.Dim + 31) / 32 }

// forward updates the receivers of a pass: aggregate, linear map, norm, residual.
func (p *Propagator) forward(x *pass) {
	p.updated += int64(x.count * p.lanes)
	c := p.chunks(x)
	for c.next() {
		begin := p.clock()
		m := p.remembered(x, c)
		for i := range x.parts {
			if rows := c.rows(i); len(rows) > 0 {
				r := &p.scratch.receivers
				*r = x.parts[i].receivers
				r.Rows, r.At = rows, c.at[i]
				p.kernel.Aggregate(r, m.features)
			}
		}
		begin = p.since(begin, messagesPhase)
		p.multiply(x, c, m)
		p.drop(x, c, m)
		for i := range x.parts {
			if rows := c.rows(i); len(rows) > 0 {
				p.normalize(x, i, rows, c.at[i], m)
			}
		}
		p.since(begin, densePhase)
	}
}

// normalize ends the update of some rows of a part.
func (p *Propagator) normalize(x *pass, part int, rows, at []int32, m memory) {
	u := &p.scratch.normalize
	*u = p.updateOf(x, part, rows, at, m)
	if !p.query.Training {
		u.Deviation = nil
	}
	p.kernel.Normalize(u)
}

// remembered returns the memory of a chunk, a lane after the other: its own while training, or
// else scratch.
func (p *Propagator) remembered(x *pass, c *chunk) memory {
	d, width, words := p.configuration.Dim, p.weights.width(), p.keptWords()
	from, rows, at := &p.memory, c.count*p.lanes, x.firstRow+c.first
	if !p.query.Training {
		p.scratch.memory.reserve(chunkRows*p.lanes, width, d, words)
		from, at = &p.scratch.memory, 0
	}
	return memory{
		features:  from.features[at*width : (at+rows)*width],
		linear:    from.linear[at*d : (at+rows)*d],
		deviation: from.deviation[at : at+rows],
		kept:      from.kept[at*words : (at+rows)*words],
	}
}

// drop draws what a chunk drops out.
func (p *Propagator) drop(x *pass, c *chunk, m memory) {
	if !p.dropping() {
		return
	}
	p.scratch.entities = grow(p.scratch.entities, chunkRows)
	for i := range x.parts {
		at := c.at[i]
		for j, row := range c.rows(i) {
			p.scratch.entities[at[j]] = x.entities[row]
		}
	}
	p.kernel.Keep(m.kept, p.scratch.entities[:c.count], p.keptWords(), p.dropout.of(p.query.Seed, x.layer))
}

func (p *Propagator) dropping() bool { return p.query.Training && p.dropout.threshold > 0 }

// updateOf describes the last part of some rows' update to the kernel.
func (p *Propagator) updateOf(x *pass, part int, rows, at []int32, m memory) kernel.Update {
	layer := &p.weights.layers[x.layer]
	update := kernel.Update{
		Dim: p.configuration.Dim, Lanes: p.lanes, Rows: rows, At: at, Linear: m.linear, Bias: layer.bias, Deviation: m.deviation,
		Scale: layer.scale, Shift: layer.shift, Own: x.parts[part].own, Output: x.parts[part].output,
	}
	if p.dropping() {
		update.Kept, update.KeptScale = m.kept, p.dropout.scale
	}
	return update
}

// backward takes the gradient of a pass's outputs back to all that they were made of. into
// receives the gradients of the layer's parameters.
func (p *Propagator) backward(x *pass, into *layerGradients) {
	d, width := p.configuration.Dim, p.weights.width()
	p.scratch.features = grow(p.scratch.features, chunkRows*width)
	p.scratch.update = grow(p.scratch.update, chunkRows*d)
	c := p.chunks(x)
	for c.next() {
		m := p.remembered(x, c)
		linear := p.scratch.update[:c.count*d]
		p.scratch.updateGradients = kernel.UpdateGradients{Linear: linear, Bias: into.bias, Scale: into.scale, Shift: into.shift}
		for i := range x.parts {
			if rows := c.rows(i); len(rows) > 0 {
				p.scratch.normalize = p.updateOf(x, i, rows, c.at[i], m)
				p.kernel.NormalizeBackward(&p.scratch.normalize, x.parts[i].gradient, &p.scratch.updateGradients)
				p.passResidual(&x.parts[i], rows)
			}
		}
		features := p.scratch.features[:c.count*width]
		p.multiplyBackward(x, c, m, linear, features, into)
		for i := range x.parts {
			if rows := c.rows(i); len(rows) > 0 {
				r := &p.scratch.receivers
				*r = x.parts[i].receivers
				r.Rows, r.At = rows, c.at[i]
				p.kernel.AggregateBackward(r, m.features, features, &x.parts[i].gradients)
			}
		}
	}
}

// passResidual adds the gradient of some rows' outputs to that of their residuals.
func (p *Propagator) passResidual(x *part, rows []int32) {
	if x.residual == nil {
		return
	}
	d := p.configuration.Dim
	for _, row := range rows {
		at := int(row) * d
		p.kernel.Add(x.residual[at:at+d], x.gradient[at:at+d])
	}
}
