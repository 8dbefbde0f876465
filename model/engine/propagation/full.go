package propagation

import (
	"context"
	"slices"

	"tagnet/model/engine/window"
	"tagnet/model/parallel"
)

// fullPolicy is NBFNet's propagation: in every layer every entity gets messages from all its
// senders. Table t holds the states after layer t, of every entity or of those that are needed.
type fullPolicy struct {
	*tables
	far farRows
}

func newFullPolicy(r *runner) *fullPolicy {
	p := &fullPolicy{tables: newTables(r)}
	p.layeredPolicy = p
	return p
}

func (p *fullPolicy) sharesEqual() bool { return false }

func (p *fullPolicy) distance(entity int32) (hops int, reached bool) {
	return p.searchedDistance(entity)
}

func (p *fullPolicy) finalAges(entity int32) (first, last, row int) {
	return p.configuration.Layers, p.configuration.Layers, int(p.layout.Row(entity))
}

func (p *fullPolicy) finalTable(_, age int) []float32 { return p.states.each[age] }

func (p *fullPolicy) different(level int) ([]int32, []window.Duplicate) {
	return p.layout.Level(level), nil
}

func (p *fullPolicy) tableAfter(t int, _ *receiverGroup) int { return t }

func (p *fullPolicy) heard(t int, _ *receiverGroup, _ int, sender int32) bool {
	return int(p.searched()[p.local(sender)]) < t
}

func (p *fullPolicy) groups(t int) []receiverGroup {
	p.fullUpdate(t)
	if t == 1 {
		return append(p.update.groups, p.farGroup())
	}
	return p.update.groups
}

// forward computes the states of all entities after each layer, or only those that candidates depend on.
func (p *fullPolicy) forward(ctx context.Context) error {
	c := p.configuration
	d := c.Dim
	if !p.sameGraph {
		p.layout.FillAll(p.query.Query)
		p.weighReceivers()
	}
	p.findNeededByLayer(p.query.Candidates)
	p.states.resize(c.Layers+1, 0, p.layout.Count(), d)
	p.clearNeeded(p.states.each[0], 0)
	source := int(p.sourceRow())
	copy(p.states.each[0][source*d:(source+1)*d], p.embedding)
	if p.query.Training {
		p.activations.resize(p.far.count()+p.fullUpdates(), p.weights.width(), d, p.maskWords())
	}
	p.firstRows[0] = p.far.count()
	p.forwardFar()
	for t := 1; t <= c.Layers; t++ {
		if err := canceled(ctx); err != nil {
			return err
		}
		p.fullUpdate(t)
		p.sent += p.countAll(t)
		p.run(&p.update)
	}
	return nil
}

// sourceRow returns the row of the source.
func (p *fullPolicy) sourceRow() int32 { return p.layout.Row(p.query.Source) }

// findNeededByLayer finds the states that candidates depend on. With the policy full, an entity has
// a state after each layer instead of one for each age. It also splits the rows that layer 1 updates.
func (p *fullPolicy) findNeededByLayer(candidates []int32) {
	last := p.configuration.Layers
	need := &p.needed
	need.all = candidates == nil
	if need.all {
		p.far.split(p)
		return
	}
	need.masks = parallel.Cleared(need.masks, p.layout.Count())
	for _, entity := range candidates {
		need.masks[p.layout.Row(entity)] |= 1 << last
	}
	for t := last; t > 1; t-- {
		p.needAllSenders(t, p.layout.All())
	}
	p.far.split(p)
	p.needAllSenders(1, p.far.near)
	need.masks[p.sourceRow()] |= 1
	p.listNeeded(last + 1)
}

// needAllSenders marks what the needed states of rows after layer t are computed from.
func (p *fullPolicy) needAllSenders(t int, rows []int32) {
	masks, senders := p.needed.masks, &p.layout.Senders
	bit := uint64(1) << (t - 1)
	for _, row := range rows {
		if masks[row]>>t&1 == 0 {
			continue
		}
		masks[row] |= bit
		begin, end := senders.Range(row, 1)
		for _, sender := range senders.Rows[begin:end] {
			masks[sender] |= bit
		}
	}
}

// rowsAfter returns the rows whose states after layer t a query computes; for layer 0, those that are read.
func (p *fullPolicy) rowsAfter(t int) []int32 {
	if p.needed.all {
		return p.layout.All()
	}
	return p.needed.rows[t]
}

// fullUpdates returns the number of states that the layers compute one by one.
func (p *fullPolicy) fullUpdates() (count int) {
	for t := 1; t <= p.configuration.Layers; t++ {
		count += len(p.rowsAfter(t))
	}
	return count - len(p.far.rows)
}

// countAll returns the number of messages to the rows that layer t updates. Empty ones count: NBFNet sends them.
func (p *fullPolicy) countAll(t int) (count int64) {
	if p.query.Candidates == nil {
		return p.layout.Messages(0, 1)
	}
	for _, row := range p.rowsAfter(t) {
		begin, end := p.layout.Senders.Range(row, 1)
		count += int64(end - begin)
	}
	return count
}

// aroundSource splits rows 0..n-1 into those before the source, the source, whose boundary is not
// zero, and those after it. A source of -1 is in none of them.
func aroundSource(source, n int) [3][2]int {
	if source < 0 {
		return [3][2]int{{0, n}}
	}
	return [3][2]int{{0, source}, {source, source + 1}, {source + 1, n}}
}

// fullUpdate describes layer t, without the far rows of layer 1.
func (p *fullPolicy) fullUpdate(t int) {
	rows := p.rowsAfter(t)
	if t == 1 {
		rows = p.far.near
	}
	x := &p.update
	*x = layerUpdate{layer: t - 1, groups: x.groups[:0], entities: p.entities(), degrees: p.layout.Degrees, firstRow: p.firstRows[t-1], count: len(rows)}
	p.firstRows[t] = x.firstRow + x.count
	source, found := slices.BinarySearch(rows, p.sourceRow())
	if !found {
		source = -1
	}
	for _, part := range aroundSource(source, len(rows)) {
		group := receiverGroup{rows: rows[part[0]:part[1]], previous: p.states.each[t-1], output: p.states.each[t], receivers: p.receivers(t - 1)}
		group.receivers.Previous = group.previous
		group.receivers.StateOffset, group.receivers.Kinds = p.states.first(t-1), 1
		if found && part[0] == source {
			group.receivers.Initial = p.embedding
		}
		x.groups = append(x.groups, group)
	}
}

// backward propagates the gradient of entities' final states, [len(entities), dim], to the parameters and
// the query's embedding.
func (p *fullPolicy) backward(entities []int32, gradient []float32, into *Gradients) {
	p.clearGradients()
	p.loadGradients(entities, gradient)
	for t := p.configuration.Layers; t >= 1; t-- {
		p.backwardLayer(t, into)
	}
	p.backwardFar(into)
	d, source := p.configuration.Dim, int(p.sourceRow())
	p.kernel.Add(into.Query, p.gradients.each[0][source*d:(source+1)*d])
}

// backwardLayer propagates the gradients of the states after layer t to the states before it.
func (p *fullPolicy) backwardLayer(t int, into *Gradients) {
	p.fullUpdate(t)
	for i := range p.update.groups {
		x := &p.update.groups[i]
		x.gradient, x.residual = p.gradients.each[t], p.gradients.each[t-1]
		x.setGradients(p.gradients.all, t-1, into)
		x.gradients.Previous = p.gradients.each[t-1]
	}
	p.runBackward(&p.update, &into.layers[t-1])
}
