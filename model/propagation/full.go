package propagation

import "tagnet/model/kernel"

// forwardFull is NBFNet's propagation: every entity listens to all its senders in every
// layer. tables[t] holds every entity's state after layer t, positions ordered by degree.
func (p *Propagator) forwardFull() {
	c := p.configuration
	d := c.Dim
	p.layout.FillAll(p.query.Removal)
	n := p.layout.Count()
	p.tables = growTables(p.tables, c.Layers+1, n*d)
	clear(p.tables[0])
	source := int(p.layout.Position(p.query.Source))
	copy(p.tables[0][source*d:(source+1)*d], p.embedding)
	p.weigh(n)
	if p.query.Training {
		p.memory.reserve(c.Layers*n, p.weights.width(), d, p.keptWords())
	}
	for t := 1; t <= c.Layers; t++ {
		for _, part := range parts(source, n) {
			x := p.fullPass(t, part)
			p.sent += countSent(&x.receivers)
			p.forward(&x)
		}
	}
}

// parts are the rows before the source, the source, and those after it: its boundary is
// another. Where the source is at -1, all rows are in the first.
func parts(source, n int) [3][2]int {
	if source < 0 {
		return [3][2]int{{0, n}}
	}
	return [3][2]int{{0, source}, {source, source + 1}, {source + 1, n}}
}

func (p *Propagator) fullPass(t int, part [2]int) pass {
	lo, hi, d := part[0], part[1], p.configuration.Dim
	x := pass{
		layer:    t - 1,
		entities: p.layout.Entities[lo:hi],
		degrees:  p.layout.Degrees[lo:hi],
		own:      p.tables[t-1][lo*d : hi*d],
		output:   p.tables[t][lo*d : hi*d],
		firstRow: (t-1)*p.layout.Count() + lo,
	}
	x.receivers = p.receivers(t-1, lo, hi)
	x.receivers.Own = x.own
	x.receivers.States[0] = p.tables[t-1]
	if lo == int(p.layout.Position(p.query.Source)) {
		x.receivers.Initial = p.embedding
	}
	return x
}

// backwardFull runs the layers in reverse.
func (p *Propagator) backwardFull(into *Gradients) {
	d := p.configuration.Dim
	source, n := int(p.layout.Position(p.query.Source)), p.layout.Count()
	for t := p.configuration.Layers; t >= 1; t-- {
		layer := &into.layers[t-1]
		for _, part := range parts(source, n) {
			x := p.fullPass(t, part)
			lo, hi := part[0], part[1]
			g := kernel.Gradients{RelationEmbeddings: layer.relation, Own: p.gradients[t-1][lo*d : hi*d]}
			g.States[0] = p.gradients[t-1]
			if x.receivers.Initial != nil {
				g.Initial = into.Query
			}
			if x.receivers.DegreeMessage != nil {
				g.DegreeMessage = layer.degree
			}
			p.backward(&x, p.gradients[t][lo*d:hi*d], g, g.Own, layer)
		}
	}
	addTo(into.Query, p.gradients[0][source*d:(source+1)*d])
}
