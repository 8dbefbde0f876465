package propagation

// forwardFull is NBFNet's propagation: in every layer every entity gets messages from all its
// senders. Table t holds every entity's state after layer t.
func (p *Propagator) forwardFull(laidOut bool) {
	c := p.configuration
	d := c.Dim
	if !laidOut {
		p.layout.FillAll(p.query.Removal)
		p.weighReceivers()
	}
	n := p.layout.Count()
	p.states.resize(c.Layers+1, 0, n, d)
	clear(p.states.each[0])
	source := int(p.layout.Row(p.query.Source))
	copy(p.states.each[0][source*d:(source+1)*d], p.embeddings.query)
	if p.query.Training {
		p.activations.resize(c.Layers*n, p.weights.width(), d, p.maskWords())
	}
	p.needed.all = true
	for t := 1; t <= c.Layers; t++ {
		p.fullUpdate(t)
		for i := range p.update.groups {
			p.sent += p.update.groups[i].messages()
		}
		p.forward(&p.update)
	}
}

// aroundSource splits rows 0..n-1 into those before the source, the source, whose boundary is not
// zero, and those after it. A source of -1 is in none of them.
func aroundSource(source, n int) [3][2]int {
	if source < 0 {
		return [3][2]int{{0, n}}
	}
	return [3][2]int{{0, source}, {source, source + 1}, {source + 1, n}}
}

// fullUpdate describes layer t.
func (p *Propagator) fullUpdate(t int) {
	n, source := p.layout.Count(), int(p.layout.Row(p.query.Source))
	x := &p.update
	*x = layerUpdate{layer: t - 1, groups: x.groups[:0], entities: p.layout.Entities, degrees: p.layout.Degrees, firstRow: (t - 1) * n, count: n}
	for _, rows := range aroundSource(source, n) {
		group := receiverGroup{rows: p.layout.All()[rows[0]:rows[1]], previous: p.states.each[t-1], output: p.states.each[t], receivers: p.receivers(t - 1)}
		group.receivers.Previous = group.previous
		group.receivers.StateOffset, group.receivers.Kinds = p.states.first(t-1), 1
		if rows[0] == source {
			group.receivers.Initial = p.embeddings.query
		}
		x.groups = append(x.groups, group)
	}
}

// backwardFull runs the layers in reverse.
func (p *Propagator) backwardFull(into *Gradients) {
	for t := p.configuration.Layers; t >= 1; t-- {
		p.backwardFullLayer(t, into)
	}
	d, source := p.configuration.Dim, int(p.layout.Row(p.query.Source))
	p.kernel.Add(into.Query, p.gradients.each[0][source*d:(source+1)*d])
}

func (p *Propagator) backwardFullLayer(t int, into *Gradients) {
	layer := &into.layers[t-1]
	p.fullUpdate(t)
	for i := range p.update.groups {
		x := &p.update.groups[i]
		x.gradient, x.residual = p.gradients.each[t], p.gradients.each[t-1]
		x.setGradients(p.gradients.all, layer, into)
		x.gradients.Previous = p.gradients.each[t-1]
	}
	p.backward(&p.update, layer)
}
