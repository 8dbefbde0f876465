package propagation

import (
	"tagnet/model/kernel"
	"tagnet/model/window"
)

// forwardWindow is TAGNet's propagation. Every reached entity has a state of age k after layer
// dist + k. In layer t the entities at distance t - k update their states of age k: from their
// parents' states of the same age, their siblings' of age k-1 and their children's of age k-2.
// Those are all the messages that are not empty, and none of them is one that the edge
// constraint forbids.
func (p *Propagator) forwardWindow(laidOut bool) {
	c := p.configuration
	if !laidOut {
		begin := p.clock()
		p.layout.Fill(p.query.Source, c.Layers, c.Delta, p.tableOfAge(), p.query.Removal)
		p.weigh()
		p.since(begin, layoutPhase)
	}
	ages := min(c.Delta, c.Layers) + 1
	p.startStates(ages)
	p.want(p.query.Candidates, ages)
	if p.sharing() {
		begin := p.clock()
		p.layout.FindAlike(window.Distinction{Empties: p.message == kernel.TransE, Admitted: c.DegreeMessages})
		p.since(begin, layoutPhase)
	}
	if p.query.Training {
		p.memory.reserve(p.updates(ages), p.weights.width(), c.Dim, p.keptWords())
	}
	for t := 1; t <= c.Layers; t++ {
		p.windowPass(t)
		for i := range p.pass.parts {
			p.sent += p.heard(&p.pass.parts[i], t) * int64(p.lanes)
		}
		p.forward(&p.pass)
		if p.sharing() {
			p.copyTwins(t)
		}
	}
}

// startStates makes room for the states of so many ages, and sets those before any layer.
func (p *Propagator) startStates(ages int) {
	before, count := 0, ages
	switch {
	case p.message == kernel.TransE:
		before = emptyTables
	case !p.agesApart():
		count = 2
	}
	p.states.grow(count, before, p.graph.Entities, p.row())
	p.states.clearBefore(p.layout.Count(), p.row())
	copy(p.states.each[0], p.embedding) // the source stands in row 0
}

// agesApart tells whether the states of each age have a table of their own: where ages beside
// the last are read again, and for TransE, which reads states before the first.
func (p *Propagator) agesApart() bool {
	return p.query.Training || p.configuration.Specific() || p.message == kernel.TransE
}

// tableOfAge is how many rows the table of an age has, 0 where it has none.
func (p *Propagator) tableOfAge() int32 {
	if p.agesApart() {
		return int32(p.graph.Entities)
	}
	return 0
}

// table is the one where states of an age stand, which are those after layer t.
func (p *Propagator) table(t, age int) int {
	if p.agesApart() {
		return age
	}
	return t & 1
}

// copyTwins gives the states of layer t that are alike to all that share them.
func (p *Propagator) copyTwins(t int) {
	row := p.row()
	for i := range p.pass.parts {
		x := &p.pass.parts[i]
		alike, level := &p.layout.Ages[x.age], t-x.age
		twins := alike.Twins[alike.TwinLevels[level]:alike.TwinLevels[level+1]]
		for _, twin := range twins {
			copy(x.output[int(twin.Row)*row:int(twin.Row+1)*row], x.output[int(twin.Of)*row:])
		}
		p.updated += int64(p.lanes * len(twins))
		if p.phases != nil {
			p.phases.Copied += int64(p.lanes * len(twins))
			for _, twin := range twins {
				p.phases.Spared += int64(p.lanes) * x.messages(twin.Row)
			}
		}
	}
}

// sharing tells whether states that are alike are computed once: not while training, where
// each has its own dropout and its own gradient.
func (p *Propagator) sharing() bool { return !p.query.Training && p.needed.all }

// weigh computes each row's share in a mean, and its number of degree messages.
func (p *Propagator) weigh() {
	p.divisor = grow(p.divisor, p.layout.Count())
	for row, degree := range p.layout.Degrees {
		p.divisor[row] = 1 / (float32(degree) + 1)
	}
	if !p.configuration.DegreeMessages {
		return
	}
	p.copies = grow(p.copies, p.layout.Count())
	for row, degree := range p.layout.Degrees {
		p.copies[row] = float32(degree - p.layout.Admitted(int32(row)))
	}
}

// windowPass describes layer t: a part for each level whose entities the layer updates, those
// at distance t - k to their state of age k.
func (p *Propagator) windowPass(t int) {
	x := &p.pass
	*x = pass{layer: t - 1, parts: x.parts[:0], entities: p.layout.Entities, degrees: p.layout.Degrees, firstRow: p.firstRows[t-1]}
	for age := 0; age <= min(p.configuration.Delta, t); age++ {
		if rows := p.wanted(age, t-age); len(rows) > 0 {
			x.parts = append(x.parts, p.windowPart(t, age))
			x.parts[len(x.parts)-1].rows = rows
			x.count += len(rows)
		}
	}
	p.firstRows[t] = x.firstRow + x.count
}

// windowPart describes the update of a level to an age, but for its rows.
func (p *Propagator) windowPart(t, age int) part {
	x := part{output: p.states.each[p.table(t, age)], age: age, receivers: p.receivers(t - 1)}
	if age > 0 {
		x.own = p.states.each[p.table(t-1, age-1)]
		x.receivers.Own = x.own
	}
	x.receivers.First, x.receivers.Heard = p.states.first(p.table(t-1, age)), min(age+1, 3)
	if p.message == kernel.TransE {
		x.receivers.Heard = 3 // an empty message is the relation itself
	}
	if t == age {
		x.receivers.Initial = p.embedding
		// At age 1 the source's children, if admitted, are empty; nobody else's boundary is
		// other than the zero that an empty message is.
		bounds := p.layout.Senders.Bounds
		children := bounds[2] < bounds[3]
		x.receivers.InitialWithZero = age == 1 && children && p.message != kernel.TransE
	}
	return x
}

// receivers describes the layout's rows to the kernel, but for which states they hear.
func (p *Propagator) receivers(layer int) kernel.Receivers {
	r := kernel.Receivers{
		Dim: p.row(), Lanes: p.lanes, Message: p.message, Reduction: p.reduction,
		Senders: p.layout.Senders, States: p.states.all,
		RelationEmbeddings: p.relations[layer], Divisor: p.divisor,
	}
	if degree := p.degrees[layer]; degree != nil {
		r.DegreeMessage, r.Copies = degree, p.copies
	}
	return r
}

// heard is the number of messages that a part's receivers hear in layer t, twins included.
func (p *Propagator) heard(x *part, t int) (messages int64) {
	if !p.needed.all {
		return countSent(x)
	}
	return p.layout.Heard(t-x.age, x.receivers.Heard)
}

// countSent is the number of messages that a part's receivers read.
func countSent(x *part) (sent int64) {
	for _, row := range x.rows {
		sent += x.messages(row)
	}
	return sent
}

// messages is the number of messages that the receiver in a row reads.
func (x *part) messages(row int32) int64 {
	begin, end := x.receivers.Senders.Of(row, x.receivers.Heard)
	return int64(end - begin)
}

// backwardWindow runs the layers in reverse. A layer reads states of the layer before and
// writes its own, so the order within it does not matter.
func (p *Propagator) backwardWindow(into *Gradients) {
	for t := p.configuration.Layers; t >= 1; t-- {
		layer := &into.layers[t-1]
		p.windowPass(t)
		for i := range p.pass.parts {
			p.windowGradients(&p.pass.parts[i], layer, into)
		}
		p.backward(&p.pass, layer)
	}
	p.kernel.Add(into.Query, p.gradients.each[0][:p.configuration.Dim]) // the source's state before any layer is the query's embedding
}

// windowGradients says where the gradients of a part go.
func (p *Propagator) windowGradients(x *part, layer *layerGradients, into *Gradients) {
	x.gradient = p.gradients.each[x.age]
	x.gradients = kernel.Gradients{States: p.gradients.all, RelationEmbeddings: layer.relation}
	if x.age > 0 {
		x.gradients.Own = p.gradients.each[x.age-1]
		x.residual = x.gradients.Own
	}
	if x.receivers.Initial != nil {
		x.gradients.Initial = into.Query
	}
	if x.receivers.DegreeMessage != nil {
		x.gradients.DegreeMessage = layer.degree
	}
}
