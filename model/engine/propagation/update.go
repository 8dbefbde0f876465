package propagation

import (
	"tagnet/model/engine/kernel"
	"tagnet/model/parallel"
)

// layerUpdate describes the update of all entities that one layer updates.
type layerUpdate struct {
	layer    int // from 0
	groups   []receiverGroup
	entities []int32 // by row of the groups' tables
	degrees  []int32 // likewise
	firstRow int     // where the layer begins in the propagator's activations
	count    int     // number of updated entities
	keepsAll bool    // without dropout
	// positions has, by row, the positions of the activations in the layer, for an update whose backward pass has fewer
	// rows than the forward pass, or nil.
	positions []int32
}

// receiverGroup is a set of receivers that read the same state tables and write the same one. In a
// window there is a group for each age.
type receiverGroup struct {
	receivers kernel.Receivers // except for Rows and At
	rows      []int32          // of the receivers, by ascending degree
	previous  []float32        // the residual: states before the update, [rows, dim], or nil for zeros
	output    []float32        // states after it, [rows, dim]
	age       int              // of the states in output, in a window

	// For the backward pass: where the gradients of the inputs go, the gradient of output, and
	// where the gradient of previous goes (nil: nowhere), each shaped like its table.
	gradients kernel.Gradients
	gradient  []float32
	residual  []float32
}

// setGradients sets where the gradients of the group's senders and embeddings go.
func (x *receiverGroup) setGradients(states []float32, layer int, into *Gradients) {
	x.gradients = kernel.Gradients{States: states, RelationEmbeddings: into.Tables[layer]}
	if x.receivers.Initial != nil {
		x.gradients.Initial = into.Query
	}
	if x.receivers.DegreeMessage != nil {
		x.gradients.DegreeMessage = into.layers[layer].degree
	}
}

// messages returns the number of messages that the group's receivers read.
func (x *receiverGroup) messages() (count int64) {
	for _, row := range x.rows {
		count += x.messagesOf(row)
	}
	return count
}

// messagesOf returns the number of messages that the receiver in a row reads.
func (x *receiverGroup) messagesOf(row int32) int64 {
	begin, end := x.receivers.Senders.Range(row, x.receivers.Kinds)
	return int64(end - begin)
}

// activations hold, for every row that a query updated, the values that the backward pass needs.
type activations struct {
	features  []float32 // the aggregated messages, [rows, width]
	linear    []float32 // output of the linear map, normalized, [rows, dim]
	deviation []float32 // 1 / standard deviation of the linear map's output, [rows]
	masks     []uint32  // of dropout, [rows, words]
}

// resize allocates a number of rows, with arbitrary contents.
func (m *activations) resize(rows, width, dim, words int) {
	m.features = parallel.Resize(m.features, rows*width)
	m.linear = parallel.Resize(m.linear, rows*dim)
	m.deviation = parallel.Resize(m.deviation, rows)
	m.masks = parallel.Resize(m.masks, rows*words)
}

// extend allocates a number of rows and keeps the contents of those there are.
func (m *activations) extend(rows, width, dim, words int) {
	m.features = parallel.Extend(m.features, rows*width)
	m.linear = parallel.Extend(m.linear, rows*dim)
	m.deviation = parallel.Extend(m.deviation, rows)
	m.masks = parallel.Extend(m.masks, rows*words)
}

// scratch is reused by every chunk of rows.
type scratch struct {
	chunk       chunk
	activations activations // of a chunk, where none are kept
	features    []float32   // gradient of a chunk's features, [chunk, width]
	update      []float32   // gradient of its linear map's output, [chunk, dim]
	entities    []int32     // of a chunk, in the order of its features
	fetched     float32     // by fetch
	edges       kernel.EdgeAggregator
	classes     []uint64 // of states, by row of all tables
	edgeLayers  [][]Edge

	// Arguments that kernels take by address, kept here so that a call allocates nothing.
	receivers       kernel.Receivers
	normalize       kernel.NodeUpdate
	updateGradients kernel.NodeUpdateGradients
}

// maskWords returns the number of words of a row's dropout mask.
func (p *runner) maskWords() int { return (p.configuration.Dim + 31) / 32 }

// run updates the receivers of a layer: aggregation, linear map, layer norm, residual.
func (p *runner) run(x *layerUpdate) {
	p.updated += int64(x.count)
	c := p.chunks(x)
	for c.next() {
		m := p.activationsOf(x, c)
		x.notePositions(c)
		for i := range x.groups {
			if rows := c.rows(i); len(rows) > 0 {
				r := &p.scratch.receivers
				*r = x.groups[i].receivers
				r.Rows, r.FeatureRows = rows, c.positions[i]
				p.kernel.Aggregate(r, m.features)
			}
		}
		p.multiply(x, c, m)
		p.drawMasks(x, c, m)
		for i := range x.groups {
			if rows := c.rows(i); len(rows) > 0 {
				p.normalize(x, i, rows, c.positions[i], m)
			}
		}
	}
}

// normalize completes the update of some rows of a group.
func (p *runner) normalize(x *layerUpdate, group int, rows, positions []int32, m activations) {
	u := &p.scratch.normalize
	*u = p.nodeUpdate(x, group, rows, positions, m)
	if !p.query.Training {
		u.InverseDeviation = nil
	}
	p.kernel.Normalize(u)
}

// activationsOf returns the activations of a chunk: those that are kept while training, else scratch.
func (p *runner) activationsOf(x *layerUpdate, c *chunk) activations {
	d, width, words := p.configuration.Dim, p.weights.width(), p.maskWords()
	from, rows, first := &p.activations, c.count, x.firstRow+c.first
	if !p.query.Training {
		p.scratch.activations.resize(chunkRows, width, d, words)
		from, first = &p.scratch.activations, 0
	}
	return activations{
		features:  from.features[first*width : (first+rows)*width],
		linear:    from.linear[first*d : (first+rows)*d],
		deviation: from.deviation[first : first+rows],
		masks:     from.masks[first*words : (first+rows)*words],
	}
}

// notePositions sets the positions of a chunk's rows.
func (x *layerUpdate) notePositions(c *chunk) {
	if x.positions == nil {
		return
	}
	for i := range x.groups {
		for j, row := range c.rows(i) {
			x.positions[row] = int32(c.first) + c.positions[i][j]
		}
	}
}

// activationsAgain returns the activations of a chunk for the backward pass: copies, unless its rows
// follow each other in the kept activations.
func (p *runner) activationsAgain(x *layerUpdate, c *chunk) activations {
	if x.positions == nil {
		m := p.activationsOf(x, c)
		p.scratch.fetched = fetch(m.features)
		return m
	}
	d, width, words := p.configuration.Dim, p.weights.width(), p.maskWords()
	from, to := &p.activations, &p.scratch.activations
	to.resize(chunkRows, width, d, words)
	for i := range x.groups {
		for j, row := range c.rows(i) {
			at, kept := int(c.positions[i][j]), x.firstRow+int(x.positions[row])
			copy(to.features[at*width:(at+1)*width], from.features[kept*width:])
			copy(to.linear[at*d:(at+1)*d], from.linear[kept*d:])
			to.deviation[at] = from.deviation[kept]
			copy(to.masks[at*words:(at+1)*words], from.masks[kept*words:])
		}
	}
	return *to
}

// fetch reads an entry of each cache line, in order, and returns the sum so that the compiler keeps the reads.
// Most features have left the caches since the forward pass. The products of the backward pass read them by columns,
// and would wait for each line.
func fetch(features []float32) (sum float32) {
	const line = 16
	for i := 0; i < len(features); i += line {
		sum += features[i]
	}
	return sum
}

// drawMasks draws a chunk's dropout masks.
func (p *runner) drawMasks(x *layerUpdate, c *chunk, m activations) {
	if x.keepsAll || !p.drops() {
		return
	}
	p.scratch.entities = parallel.Resize(p.scratch.entities, chunkRows)
	for i := range x.groups {
		positions := c.positions[i]
		for j, row := range c.rows(i) {
			p.scratch.entities[positions[j]] = x.entities[row]
		}
	}
	p.kernel.DropoutMasks(m.masks, p.scratch.entities[:c.count], p.maskWords(), p.dropout.of(p.query.Seed, x.layer))
}

func (p *runner) drops() bool { return p.query.Training && p.dropout.threshold > 0 }

// nodeUpdate describes the last step of some rows' update to the kernel.
func (p *runner) nodeUpdate(x *layerUpdate, group int, rows, positions []int32, m activations) kernel.NodeUpdate {
	layer := &p.weights.layers[x.layer]
	update := kernel.NodeUpdate{
		Dim: p.configuration.Dim, Rows: rows, LinearRows: positions, Linear: m.linear, Bias: layer.bias, InverseDeviation: m.deviation,
		Scale: layer.scale, Shift: layer.shift, Residual: x.groups[group].previous, Output: x.groups[group].output,
	}
	if !x.keepsAll && p.drops() {
		update.Mask, update.MaskScale = m.masks, p.dropout.scale
	}
	return update
}

// runBackward propagates the gradient of a layer's outputs to all of its inputs. into receives the
// gradients of the layer's parameters.
func (p *runner) runBackward(x *layerUpdate, into *layerGradients) {
	d, width := p.configuration.Dim, p.weights.width()
	p.scratch.features = parallel.Resize(p.scratch.features, chunkRows*width)
	p.scratch.update = parallel.Resize(p.scratch.update, chunkRows*d)
	c := p.chunks(x)
	for c.next() {
		m := p.activationsAgain(x, c)
		linear := p.scratch.update[:c.count*d]
		p.normalizeBackward(x, c, m, linear, into)
		features := p.scratch.features[:c.count*width]
		p.multiplyBackward(x, c, m, linear, features, into)
		for i := range x.groups {
			if rows := c.rows(i); len(rows) > 0 {
				r := &p.scratch.receivers
				*r = x.groups[i].receivers
				r.Rows, r.FeatureRows = rows, c.positions[i]
				if p.edges != nil {
					p.aggregateEdgesBackward(x, &x.groups[i], r, m.features, features)
				} else {
					p.kernel.AggregateBackward(r, m.features, features, &x.groups[i].gradients)
				}
			}
		}
	}
}

// normalizeBackward sets linear to the gradient of the linear map's output, and adds to the gradients
// of the residuals.
func (p *runner) normalizeBackward(x *layerUpdate, c *chunk, m activations, linear []float32, into *layerGradients) {
	p.scratch.updateGradients = kernel.NodeUpdateGradients{Linear: linear, Bias: into.bias, Scale: into.scale, Shift: into.shift}
	for i := range x.groups {
		rows := c.rows(i)
		if len(rows) == 0 {
			continue
		}
		group := &x.groups[i]
		p.scratch.normalize = p.nodeUpdate(x, i, rows, c.positions[i], m)
		p.kernel.NormalizeBackward(&p.scratch.normalize, group.gradient, &p.scratch.updateGradients)
		if group.residual == nil {
			continue
		}
		d := p.configuration.Dim
		for _, row := range rows {
			from := int(row) * d
			p.kernel.Add(group.residual[from:from+d], group.gradient[from:from+d])
		}
	}
}
