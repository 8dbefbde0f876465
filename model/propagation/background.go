package propagation

import (
	"context"
	"fmt"

	"tagnet/model/internal/buffer"
)

// Background is the propagation of the policy full without a source. NBFNet updates an entity from layer 1 on, also
// before the search from the source reaches it, and so do messages from such entities. After layer t
// only the entities at most t edges from the source have states that depend on it, or, with an edge removed, those near its ends.
// All others have the state that they have without a source, where relation embeddings do not depend on the query
// (configuration.HasBackground).
// In a sparse graph these are most, and Query.Background has them computed once for many queries.
//
// It is not for concurrent use, but queries may read its states concurrently until its next Forward, also during Add.
type Background struct {
	propagator *Propagator
	full       *fullPolicy
}

// NewBackground returns an empty background for p and its clones. It has about the memory of another propagator.
func NewBackground(p *Propagator) *Background {
	b := &Background{propagator: p.Clone()}
	b.full, _ = b.propagator.policy.(*fullPolicy)
	return b
}

// Forward computes the states that queries with these candidates read; nil stands for all entities. Training keeps what Add and
// Backward need. It checks ctx before each layer.
func (b *Background) Forward(ctx context.Context, w *Weights, candidates []int32, training bool) error {
	p := b.propagator
	if c := p.configuration; !c.HasBackground() || training && c.Dropout > 0 {
		return fmt.Errorf("propagating a background: policy %s with dependent %v and dropout %g has none", c.Policy, c.Dependent, c.Dropout)
	}
	p.relations = append(p.relations[:0], 0) // without a source, it is not read
	if err := p.propagate(ctx, w, Query{Candidates: candidates, Training: training, sourceless: true}); err != nil {
		return err
	}
	if training {
		b.full.clearGradients()
	}
	return nil
}

// Add adds the gradients of the states that a query read from the background, after its Backward by another propagator. Sums depend
// on the order of the queries in their last bits.
func (b *Background) Add(query *Propagator) {
	d, from := b.full.configuration.Dim, query.policy.(*fullPolicy)
	for t, into := range b.full.gradients.each[1:] {
		for _, row := range from.touched.copied[t+1] {
			b.full.kernel.Add(into[int(row)*d:int(row+1)*d], from.gradients.each[t+1][int(row)*d:int(row+1)*d])
		}
	}
}

// Backward sets into to the gradient of the background's part in a batch, all of whose queries Add has added.
func (b *Background) Backward(into *Gradients) {
	into.Zero()
	b.full.backwardLayers(into)
}

// Sent returns the number of messages that the last Forward sent.
func (b *Background) Sent() int64 { return b.propagator.Sent() }

// touchedRows are the rows whose states a query's source, or the edges removed from its graph, may have changed.
type touchedRows struct {
	rows  []int32 // in the order of the first layer after which they differ
	ends  []int   // by layer: the number of rows that differ after it, [layers+1]
	since []uint8 // by row: that first layer, or untouched

	// The needed rows by layer, ascending: those of rows that have to be computed, and the others.
	computed, copied [][]int32
}

// untouched is more than the layers of any model.
const untouched = 255

// find searches from the source and from the ends of removed edges, whose degrees differ from layer 1 on.
func (x *touchedRows) find(p *fullPolicy) {
	x.rows, x.ends = x.rows[:0], x.ends[:0]
	x.since = buffer.Resize(x.since, p.layout.Count())
	for row := range x.since {
		x.since[row] = untouched
	}
	x.add(p.sourceRow(), 0)
	x.ends = append(x.ends, len(x.rows))
	frontier := 0
	for t := 1; t <= p.configuration.Layers; t++ {
		if removal := p.query.Removal; t == 1 && removal.Active {
			x.add(p.layout.Row(removal.Answer), 1) // its source is the query's
		}
		for _, row := range x.rows[frontier:x.ends[t-1]] {
			begin, end := p.layout.Senders.Range(row, 1) // as every edge has an inverse, also those that it sends to
			for _, neighbor := range p.layout.Senders.Rows[begin:end] {
				x.add(neighbor, uint8(t))
			}
		}
		frontier = x.ends[t-1]
		x.ends = append(x.ends, len(x.rows))
	}
}

func (x *touchedRows) add(row int32, layer uint8) {
	if x.since[row] == untouched {
		x.since[row] = layer
		x.rows = append(x.rows, row)
	}
}

// after returns the rows that differ after layer t.
func (x *touchedRows) after(t int) []int32 { return x.rows[:x.ends[t]] }

// findNeededBeforeBackground is findNeededByLayer for a query with a background: what an untouched state depends on is not needed.
func (p *fullPolicy) findNeededBeforeBackground(candidates []int32) {
	last := p.configuration.Layers
	x, need := &p.touched, &p.needed
	x.find(p)
	need.all = false
	p.needFinalStates(candidates)
	if candidates == nil {
		for row := range need.masks {
			need.masks[row] = 1 << last
		}
	}
	for t := last; t >= 1; t-- {
		p.needAllSenders(t, x.after(t))
	}
	need.masks[p.sourceRow()] |= 1
	p.listNeeded(last + 1)
	x.split(need.rows[:last+1])
	p.far.none(x.computed[1])
}

// split divides the needed rows of each layer.
func (x *touchedRows) split(needed [][]int32) {
	for len(x.computed) < len(needed) {
		x.computed, x.copied = append(x.computed, nil), append(x.copied, nil)
	}
	for t, rows := range needed {
		computed, copied := x.computed[t][:0], x.copied[t][:0]
		for _, row := range rows {
			if int(x.since[row]) <= t {
				computed = append(computed, row)
			} else {
				copied = append(copied, row)
			}
		}
		x.computed[t], x.copied[t] = computed, copied
	}
}

// copyBackground copies the needed states that the query shares with its background.
func (p *fullPolicy) copyBackground() {
	d, from := p.configuration.Dim, p.query.Background.full.states
	for t := 1; t <= p.configuration.Layers; t++ {
		for _, row := range p.touched.copied[t] {
			copy(p.states.each[t][int(row)*d:int(row+1)*d], from.each[t][int(row)*d:])
		}
	}
}

// countBackground counts what a query without candidates would compute in layer t without its background.
func (p *fullPolicy) countBackground(t int) {
	others := int64(p.layout.Count() - len(p.touched.computed[t]))
	p.updated += others
	if p.phases != nil {
		p.phases.Copied += others
		p.phases.Spared += p.layout.Messages(0, 1)
		for _, row := range p.touched.computed[t] {
			p.phases.Spared -= int64(p.layout.Admitted(row))
		}
	}
}
