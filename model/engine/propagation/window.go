package propagation

import (
	"context"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/window"
	"tagnet/model/parallel"
)

// windowPolicy is TAGNet's propagation. The state of age k of an entity is the one after layer
// dist + k. Layer t computes, for every k, the states of age k of the entities at distance t - k: from
// their parents' states of age k, their siblings' of age k-1 and their children's of age k-2. These
// are all the messages that are not empty, and the edge constraint admits each of them.
type windowPolicy struct {
	*tables
	laidOut bool // all that the last query's source reaches
}

func newWindowPolicy(r *runner) *windowPolicy {
	p := &windowPolicy{tables: newTables(r)}
	p.layeredPolicy = p
	return p
}

func (p *windowPolicy) sharesEqual() bool { return true }

func (p *windowPolicy) distance(entity int32) (hops int, reached bool) {
	row := p.layout.Row(entity)
	if row == kernel.NoRow {
		return 0, false
	}
	return p.layout.Distance(row), true
}

// finalAges returns the first and last age whose states are final for an entity, and its row. Of an unreached entity
// last is below first.
func (p *windowPolicy) finalAges(entity int32) (first, last, row int) {
	row = int(p.layout.Row(entity))
	if row == kernel.NoRow {
		return 0, -1, 0
	}
	last = min(p.configuration.Delta, p.configuration.Layers-p.layout.Distance(int32(row)))
	if !p.configuration.Specific() {
		first = last
	}
	return first, last, row
}

func (p *windowPolicy) finalTable(row, age int) []float32 {
	return p.states.each[p.table(p.layout.Distance(int32(row))+age, age)]
}

// different leaves the duplicates at the last age of a level out. The source, whose first state no layer
// computes, has none.
func (p *windowPolicy) different(level int) ([]int32, []window.Duplicate) {
	if level == 0 || !p.sharesStates() {
		return p.layout.Level(level), nil
	}
	age := min(p.configuration.Delta, p.configuration.Layers-level)
	return p.rowsToCompute(age, level), p.duplicates(age, level)
}

func (p *windowPolicy) tableAfter(_ int, x *receiverGroup) int { return x.age }

// heard reports whether a sender was reached before the layer: its kind is at most the receiver's age.
func (p *windowPolicy) heard(_ int, x *receiverGroup, kind int, _ int32) bool { return kind <= x.age }

func (p *windowPolicy) groups(t int) []receiverGroup {
	p.windowUpdate(t)
	return p.update.groups
}

// forward lays out the entities by distance, unless the last query's layout serves, and computes the states of
// each layer's window.
func (p *windowPolicy) forward(ctx context.Context) error {
	c := p.configuration
	ages := c.Ages()
	p.needed.all = p.query.Candidates == nil
	// The layout of a query of the same search stays, if both need all entities.
	laidOut := p.sameSearch && p.laidOut
	p.laidOut = false // candidates may leave out the others' rows
	if !laidOut || !p.needed.all {
		p.layOut(ages)
	}
	p.startStates(ages)
	if p.sharesStates() {
		p.layout.FindEquivalent(window.Criteria{Empties: p.message == kernel.TransE, Admitted: c.DegreeMessages, Needed: !p.needed.all})
	}
	// Training keeps activations for the backward pass.
	if p.query.Training {
		p.activations.resize(p.maxUpdates(ages), p.weights.width(), c.Dim, p.maskWords())
	}
	for t := 1; t <= c.Layers; t++ {
		if err := canceled(ctx); err != nil {
			return err
		}
		p.windowUpdate(t)
		for i := range p.update.groups {
			p.sent += p.countMessages(&p.update.groups[i], t)
		}
		p.run(&p.update)
		if p.sharesStates() {
			p.copyDuplicates(t)
		}
	}
	p.laidOut = p.needed.all
	return nil
}

// layOut lays out the query's window. With TransE and with degree messages it lays out all
// entities: TransE's messages from entities that are not reached yet are not empty, and degree
// messages are counted.
func (p *windowPolicy) layOut(ages int) {
	c, q := p.configuration, &p.query
	if p.needed.all {
		p.layout.Fill(q.Query, c.Layers, c.Delta, p.tableRows())
	} else {
		p.layout.FillFor(q.Query, c.Layers, c.Delta, p.tableRows(), q.Candidates, p.message == kernel.TransE || c.DegreeMessages)
		p.takeNeeded(ages)
	}
	p.weighReceivers()
}

// startStates allocates the states of a number of ages and sets those before any layer.
func (p *windowPolicy) startStates(ages int) {
	before, count := 0, ages
	switch {
	case p.message == kernel.TransE:
		before = emptyTables
	case !p.separatesAges():
		count = 2
	}
	p.states.resize(count, before, p.graph.Entities, p.configuration.Dim)
	p.states.clearBefore(p.layout.Count(), p.configuration.Dim)
	copy(p.states.each[0], p.embedding) // the source has row 0
}

// separatesAges reports whether each age has a state table: where states before an entity's last are
// read again, and for TransE, which reads states of ages before 0.
func (p *windowPolicy) separatesAges() bool {
	return p.query.Training || p.configuration.Specific() || p.message == kernel.TransE
}

// tableRows returns the number of rows of an age's table, or 0 where ages have none of their own.
func (p *windowPolicy) tableRows() int32 {
	if p.separatesAges() {
		return int32(p.graph.Entities)
	}
	return 0
}

// table returns the index of the table for the states of an age after layer t.
func (p *windowPolicy) table(t, age int) int {
	if p.separatesAges() {
		return age
	}
	return t & 1
}

// sharesStates reports whether equivalent states are computed once. While training this changes the
// order of the gradients' sum, so it is a choice; and dropout would make the states differ.
func (p *windowPolicy) sharesStates() bool {
	return !p.query.Training && p.needed.all || p.query.ShareStates
}

// duplicates returns the duplicates among the states of an age of a level.
func (p *windowPolicy) duplicates(age, level int) []window.Duplicate {
	ofAge := &p.layout.Ages[age]
	return ofAge.Duplicates[ofAge.DuplicateLevels[level]:ofAge.DuplicateLevels[level+1]]
}

// copyDuplicates copies the states that layer t computed to the rows with equivalent ones.
func (p *windowPolicy) copyDuplicates(t int) {
	d := p.configuration.Dim
	for i := range p.update.groups {
		x := &p.update.groups[i]
		duplicates := p.duplicates(x.age, t-x.age)
		for _, same := range duplicates {
			copy(x.output[int(same.Row)*d:int(same.Row+1)*d], x.output[int(same.Of)*d:])
		}
		p.updated += int64(len(duplicates))
	}
}

// weighReceivers computes each row's divisor of a mean, and its number of degree messages.
func (p *tables) weighReceivers() {
	p.divisor = parallel.Resize(p.divisor, p.layout.Count())
	for row, degree := range p.layout.Degrees {
		p.divisor[row] = 1 / (float32(degree) + 1)
	}
	if !p.configuration.DegreeMessages {
		return
	}
	p.copies = parallel.Resize(p.copies, p.layout.Count())
	for row, degree := range p.layout.Degrees {
		p.copies[row] = float32(degree - p.layout.Admitted(int32(row)))
	}
}

// windowUpdate describes layer t: a group for each level that it updates, which is the level at
// distance t - k for age k.
func (p *windowPolicy) windowUpdate(t int) {
	x := &p.update
	*x = layerUpdate{layer: t - 1, groups: x.groups[:0], entities: p.entities(), degrees: p.layout.Degrees, firstRow: p.firstRows[t-1]}
	for age := 0; age <= min(p.configuration.Delta, t); age++ {
		if rows := p.rowsToCompute(age, t-age); len(rows) > 0 {
			x.groups = append(x.groups, p.windowGroup(t, age))
			x.groups[len(x.groups)-1].rows = rows
			x.count += len(rows)
		}
	}
	p.firstRows[t] = x.firstRow + x.count
}

// windowGroup describes the update of a level's states of an age, except for its rows.
func (p *windowPolicy) windowGroup(t, age int) receiverGroup {
	x := receiverGroup{output: p.states.each[p.table(t, age)], age: age, receivers: p.receivers(t - 1)}
	if age > 0 {
		x.previous = p.states.each[p.table(t-1, age-1)]
		x.receivers.Previous = x.previous
	}
	x.receivers.StateOffset, x.receivers.Kinds = p.states.first(p.table(t-1, age)), min(age+1, 3)
	if p.message == kernel.TransE {
		x.receivers.Kinds = 3 // an empty message is the relation's embedding
	}
	if t == age {
		x.receivers.Initial = p.embedding
		// At age 1 the source's children, if admitted, send empty messages. Every other entity has
		// the zero of an empty message in its set already, as its boundary.
		x.receivers.EmptyMessages = age == 1 && p.layout.SourceChildren && p.message != kernel.TransE
	}
	return x
}

// receivers describes the layout's rows to the kernel, except for the states their senders have.
func (p *tables) receivers(layer int) kernel.Receivers {
	r := kernel.Receivers{
		Dim: p.configuration.Dim, Message: p.message, Reduction: p.reduction,
		Senders: p.layout.Senders, States: p.states.all,
		RelationEmbeddings: p.embeddings[layer], MeanFactor: p.divisor,
	}
	if p.configuration.DegreeMessages {
		r.DegreeMessage, r.Copies = p.weights.layers[layer].degree, p.copies
	}
	return r
}

// addDuplicates adds the gradients of the duplicates of layer t's states to the gradients of their representatives.
func (p *windowPolicy) addDuplicates(t int) {
	d := p.configuration.Dim
	for i := range p.update.groups {
		x := &p.update.groups[i]
		for _, duplicate := range p.duplicates(x.age, t-x.age) {
			p.kernel.Add(x.gradient[int(duplicate.Of)*d:int(duplicate.Of+1)*d], x.gradient[int(duplicate.Row)*d:int(duplicate.Row+1)*d])
		}
	}
}

// countMessages returns the number of messages to a group's receivers in layer t, duplicates included.
func (p *windowPolicy) countMessages(x *receiverGroup, t int) (messages int64) {
	if p.needed.all {
		return p.layout.Messages(t-x.age, x.receivers.Kinds)
	}
	messages = x.messages()
	if p.sharesStates() {
		for _, d := range p.duplicates(x.age, t-x.age) {
			messages += x.messagesOf(d.Row)
		}
	}
	return messages
}

// backward runs the layers in reverse. A layer reads states of the layer before and writes its
// own, so the order within it does not matter.
func (p *windowPolicy) backward(entities []int32, gradient []float32, into *Gradients) {
	p.clearGradients()
	p.loadGradients(entities, gradient)
	for t := p.configuration.Layers; t >= 1; t-- {
		p.backwardLayer(t, into)
	}
	p.kernel.Add(into.Query, p.gradients.each[0][:p.configuration.Dim]) // the source's first state is the query's embedding
}

// backwardLayer propagates the gradients of the states after layer t to the states before it.
func (p *windowPolicy) backwardLayer(t int, into *Gradients) {
	p.windowUpdate(t)
	for i := range p.update.groups {
		p.windowGradients(&p.update.groups[i], t-1, into)
	}
	if p.sharesStates() {
		p.addDuplicates(t)
	}
	p.runBackward(&p.update, &into.layers[t-1])
}

// windowGradients sets where a group's gradients are read and written.
func (p *windowPolicy) windowGradients(x *receiverGroup, layer int, into *Gradients) {
	x.gradient = p.gradients.each[x.age]
	x.setGradients(p.gradients.all, layer, into)
	if x.age > 0 {
		x.gradients.Previous = p.gradients.each[x.age-1]
		x.residual = x.gradients.Previous
	}
}
