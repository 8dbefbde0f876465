package propagation

import "tagnet/model/kernel"

// forwardFull is NBFNet's propagation: every entity listens to all its senders in every
// layer. Table t of the states holds every entity's state after layer t, rows ordered by degree.
func (p *Propagator) forwardFull(laidOut bool) {
	c := p.configuration
	d := c.Dim
	if !laidOut {
		p.layout.FillAll(p.query.Removal)
		p.weigh()
	}
	n := p.layout.Count()
	p.states.grow(c.Layers+1, 0, n, d)
	clear(p.states.each[0])
	source := int(p.layout.Find(p.query.Source))
	copy(p.states.each[0][source*d:(source+1)*d], p.embedding)
	if p.query.Training {
		p.memory.reserve(c.Layers*n, p.weights.width(), d, p.keptWords())
	}
	p.needed.all = true
	for t := 1; t <= c.Layers; t++ {
		p.fullPass(t)
		for i := range p.pass.parts {
			p.sent += countSent(&p.pass.parts[i])
		}
		p.forward(&p.pass)
	}
}

// aroundSource are the rows before the source, the source, and those after it: its boundary
// is another. Where the source is at -1, all rows are in the first.
func aroundSource(source, n int) [3][2]int {
	if source < 0 {
		return [3][2]int{{0, n}}
	}
	return [3][2]int{{0, source}, {source, source + 1}, {source + 1, n}}
}

// fullPass describes layer t.
func (p *Propagator) fullPass(t int) {
	n, source := p.layout.Count(), int(p.layout.Find(p.query.Source))
	x := &p.pass
	*x = pass{layer: t - 1, parts: x.parts[:0], entities: p.layout.Entities, degrees: p.layout.Degrees, firstRow: (t - 1) * n, count: n}
	for _, rows := range aroundSource(source, n) {
		part := part{rows: p.layout.All()[rows[0]:rows[1]], own: p.states.each[t-1], output: p.states.each[t], receivers: p.receivers(t - 1)}
		part.receivers.Own = part.own
		part.receivers.First, part.receivers.Heard = p.states.first(t-1), 1
		if rows[0] == source {
			part.receivers.Initial = p.embedding
		}
		x.parts = append(x.parts, part)
	}
}

// backwardFull runs the layers in reverse.
func (p *Propagator) backwardFull(into *Gradients) {
	d := p.configuration.Dim
	for t := p.configuration.Layers; t >= 1; t-- {
		layer := &into.layers[t-1]
		p.fullPass(t)
		for i := range p.pass.parts {
			x := &p.pass.parts[i]
			x.gradient, x.residual = p.gradients.each[t], p.gradients.each[t-1]
			x.gradients = kernel.Gradients{States: p.gradients.all, RelationEmbeddings: layer.relation, Own: p.gradients.each[t-1]}
			if x.receivers.Initial != nil {
				x.gradients.Initial = into.Query
			}
			if x.receivers.DegreeMessage != nil {
				x.gradients.DegreeMessage = layer.degree
			}
		}
		p.backward(&p.pass, layer)
	}
	source := int(p.layout.Find(p.query.Source))
	p.kernel.Add(into.Query, p.gradients.each[0][source*d:(source+1)*d])
}
