package propagation

import "tagnet/model/kernel"

// forwardWindow is TAGNet's propagation. tables[k] holds every reached entity's state of age
// k, the one after layer dist + k. In layer t the entities at distance t - k update their
// states of age k: from their parents' states of the same age, their siblings' of age k-1 and
// their children's of age k-2. Those are all the messages that are not empty, and none of
// them is one that the edge constraint forbids.
func (p *Propagator) forwardWindow() {
	c := p.configuration
	d := c.Dim
	p.layout.Fill(p.query.Distances, c.Layers, c.Delta, p.query.Removal)
	n := p.layout.Count()
	ages := min(c.Delta, c.Layers) + 1
	p.tables = growTables(p.tables, ages, n*d)
	copy(p.tables[0][:d], p.embedding) // the source stands at position 0
	p.weigh(n)
	if p.query.Training {
		p.memory.reserve(ages*n, p.weights.width(), d, p.keptWords())
	}
	if p.message == kernel.TransE {
		p.zeros = grow(p.zeros, n*d)
		clear(p.zeros)
	}
	for t := 1; t <= c.Layers; t++ {
		for age := 0; age <= min(c.Delta, t); age++ {
			if x, ok := p.windowPass(t, age); ok {
				p.sent += countSent(&x.receivers)
				p.forward(&x)
			}
		}
	}
}

// weigh computes each position's share in a mean, and its number of degree messages.
func (p *Propagator) weigh(n int) {
	p.divisor, p.copies = grow(p.divisor, n), grow(p.copies, n)
	for i, degree := range p.layout.Degrees {
		p.divisor[i] = 1 / (float32(degree) + 1)
		p.copies[i] = float32(degree - (p.layout.Bounds[4*i+3] - p.layout.Bounds[4*i]))
	}
}

// windowPass describes the update of the entities that reach an age in layer t, if any do.
func (p *Propagator) windowPass(t, age int) (pass, bool) {
	level, d, n := t-age, p.configuration.Dim, p.layout.Count()
	lo, hi := int(p.layout.Levels[level]), int(p.layout.Levels[level+1])
	if lo == hi || level == 0 && age == 0 {
		return pass{}, false
	}
	x := pass{
		layer:    t - 1,
		entities: p.layout.Entities[lo:hi],
		degrees:  p.layout.Degrees[lo:hi],
		output:   p.tables[age][lo*d : hi*d],
		firstRow: age*n + lo,
	}
	x.receivers = p.receivers(t-1, lo, hi)
	if age > 0 {
		x.own = p.tables[age-1][lo*d : hi*d]
		x.receivers.Own = x.own
	}
	for kind := range 3 {
		switch {
		case age >= kind:
			x.receivers.States[kind] = p.tables[age-kind]
		case p.message == kernel.TransE:
			x.receivers.States[kind] = p.zeros // an empty message is the relation itself
		}
	}
	if level == 0 {
		x.receivers.Initial = p.embedding
		// At age 1 the source's children, if admitted, are empty; nobody else's boundary is
		// other than the zero that an empty message is.
		hasChildren := p.layout.Bounds[3] > p.layout.Bounds[2]
		x.receivers.InitialWithZero = age == 1 && hasChildren && p.message != kernel.TransE
	}
	return x, true
}

// receivers describes positions lo to hi of the layout to the kernel, without states.
func (p *Propagator) receivers(layer, lo, hi int) kernel.Receivers {
	r := kernel.Receivers{
		Dim: p.configuration.Dim, Message: p.message, Reduction: p.reduction,
		Bounds:  p.layout.Bounds[4*lo : 4*hi],
		Senders: p.layout.Senders, Relations: p.layout.Relations,
		RelationEmbeddings: p.relations[layer],
		Divisor:            p.divisor[lo:hi],
	}
	if degree := p.weights.layers[layer].degree; degree != nil {
		r.DegreeMessage, r.Copies = degree, p.copies[lo:hi]
	}
	return r
}

// countSent is the number of messages that receivers read.
func countSent(r *kernel.Receivers) int64 {
	sent := int64(0)
	for kind, states := range r.States {
		if states == nil {
			continue
		}
		for i := kind; i < len(r.Bounds); i += 4 {
			sent += int64(r.Bounds[i+1] - r.Bounds[i])
		}
	}
	return sent
}

// backwardWindow runs the layers in reverse. A layer reads states of the layer before and
// writes its own, so the order within it does not matter.
func (p *Propagator) backwardWindow(into *Gradients) {
	c := p.configuration
	d := c.Dim
	if p.message == kernel.TransE {
		p.discarded = grow(p.discarded, p.layout.Count()*d)
	}
	for t := c.Layers; t >= 1; t-- {
		layer := &into.layers[t-1]
		for age := 0; age <= min(c.Delta, t); age++ {
			x, ok := p.windowPass(t, age)
			if !ok {
				continue
			}
			lo, hi := int(p.layout.Levels[t-age]), int(p.layout.Levels[t-age+1])
			g := kernel.Gradients{RelationEmbeddings: layer.relation}
			for kind := range 3 {
				switch {
				case age >= kind:
					g.States[kind] = p.gradients[age-kind]
				case p.message == kernel.TransE:
					g.States[kind] = p.discarded
				}
			}
			if age > 0 {
				g.Own = p.gradients[age-1][lo*d : hi*d]
			}
			if x.receivers.Initial != nil {
				g.Initial = into.Query
			}
			if x.receivers.DegreeMessage != nil {
				g.DegreeMessage = layer.degree
			}
			p.backward(&x, p.gradients[age][lo*d:hi*d], g, g.Own, layer)
		}
	}
	addTo(into.Query, p.gradients[0][:d]) // the source's state before any layer is the query's embedding
}
