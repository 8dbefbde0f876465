package ultra

import (
	"context"

	"tagnet/model/internal/buffer"
	"tagnet/model/internal/stack"
	"tagnet/model/parallel"
)

// Base is what all queries of a base relation share, of either direction and from any source: the states of the relations, the
// tables of messages, and the ground states of the entities with their scores. It is only read by workers, which may share it.
type Base struct {
	relation int32
	// tables are those of messages, by layer, [2R, 64].
	tables [][]float32
	// shared have the outputs of the layers' linear maps for the ground states, without the bias, [V, 64], by rank.
	shared [Layers][]float32
	// ground has the ground states after the last layer, middle those after middleLayer, [V, 64] each, by rank.
	ground, middle []float32
	// queries are those of the base relation and of its inverse.
	queries [2]queryHead

	next []float32 // a second table of states while they are computed
}

// queryHead is what the head computes once for all queries of a relation.
type queryHead struct {
	state  []float32 // of the relation, [64]
	shift  []float32 // the first layer's product with the query's state, and its bias, [128]
	scores []float32 // of the ground states, by entity, [V]
}

// Base returns what queries of a base relation share, computed by so many threads. It reuses the memory of another base
// relation's, which nobody may read any more, unless that is nil. It checks ctx before each layer.
func (m *Model) Base(ctx context.Context, relation int32, threads int, reuse *Base) (*Base, error) {
	b := reuse
	if b == nil {
		b = &Base{}
	}
	b.relation = relation
	threads = max(1, threads)
	workers := make([]*buffers, threads)
	for i := range workers {
		workers[i] = newBuffers()
	}
	m.relations.Prepare([]int32{relation})
	b.tables = m.relations.Tables([]int32{relation}, nil)
	if err := m.groundStates(ctx, b, workers); err != nil {
		return nil, err
	}
	for i := range b.queries {
		m.groundScores(b, i, workers)
	}
	return b, nil
}

// groundStates propagates without a source, and keeps of each layer what queries start from.
func (m *Model) groundStates(ctx context.Context, b *Base, workers []*buffers) error {
	size := m.graph.Entities * Dim
	x, next := buffer.Cleared(b.ground, size), buffer.Resize(b.next, size)
	for t := range b.shared {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		b.shared[t] = buffer.Resize(b.shared[t], size)
		r := stack.Receivers(Dim, m.layout.Senders, x, b.tables[t])
		r.Previous = x
		u := stack.Update{Layer: &m.weights.entities[t], Receivers: r, Output: next, Keep: b.shared[t]}
		m.blocks(workers, func(buffers *buffers, rows []int32) {
			u := u
			u.Receivers.Rows = rows
			buffers.Run(m.kernel, u)
		})
		x, next = next, x
		if t+1 == middleLayer {
			b.middle = append(b.middle[:0], x...)
		}
	}
	b.ground, b.next = x, next
	return nil
}

// updateAll updates all entities in layer t, from states x to next, [V, 64] each, by rank. source is the rank of the entity whose
// boundary is query.
func (m *Model) updateAll(b *Base, t int, source int32, query, x, next []float32, buffers *buffers) {
	rows, r := m.layout.All(), stack.Receivers(Dim, m.layout.Senders, x, b.tables[t-1])
	r.Previous = x
	u := stack.Update{Layer: &m.weights.entities[t-1], Receivers: r, Output: next}
	for _, others := range [][]int32{rows[:source], rows[source+1:]} {
		u.Receivers.Rows = others
		buffers.Run(m.kernel, u)
	}
	u.Receivers.Rows, u.Receivers.Initial = rows[source:source+1], query
	buffers.Run(m.kernel, u)
}

// blocks calls do for blocks of consecutive rows of all entities, on a thread for each worker.
func (m *Model) blocks(workers []*buffers, do func(buffers *buffers, rows []int32)) {
	rows := m.layout.All()
	parallel.Workers(len(workers), (len(rows)+stack.BlockRows-1)/stack.BlockRows, func(worker, block int) {
		do(workers[worker], rows[block*stack.BlockRows:min(len(rows), (block+1)*stack.BlockRows)])
	})
}

// groundScores computes the part of the score function that queries of one direction share.
func (m *Model) groundScores(b *Base, direction int, workers []*buffers) {
	relation := b.relation
	if direction == 1 {
		relation = m.inverse(relation)
	}
	q := &b.queries[direction]
	q.state = m.relations.Query(relation)
	q.shift = append(q.shift[:0], m.weights.head.bias...)
	m.kernel.Multiply(q.shift, q.state, m.weights.head.query, 1, Dim, 2*Dim, true)
	q.scores = buffer.Resize(q.scores, m.graph.Entities)
	m.blocks(workers, func(buffers *buffers, rows []int32) {
		states := b.ground[int(rows[0])*Dim : (int(rows[len(rows)-1])+1)*Dim]
		buffers.score(m, q.shift, states, m.layout.Entities[rows[0]:], q.scores)
	})
}

// headRows is the number of rows that are scored at a time: their buffers stay in the first-level cache.
const headRows = 48

// buffers are those of a worker.
type buffers struct {
	*stack.Buffers
	hidden []float32 // of the head, [headRows, 128]
	values []float32 // [headRows]
}

func newBuffers() *buffers {
	return &buffers{stack.NewBuffers(Dim), make([]float32, headRows*2*Dim), make([]float32, headRows)}
}

// score sets the scores of entities with the given final states, [n, 64].
func (b *buffers) score(m *Model, shift, states []float32, entities []int32, scores []float32) {
	h := &m.weights.head
	for first := 0; first*Dim < len(states); first += headRows {
		n := min(headRows, len(states)/Dim-first)
		hidden, values := b.hidden[:n*2*Dim], b.values[:n]
		stack.FillRows(hidden, shift)
		m.kernel.Multiply(hidden, states[first*Dim:], h.state, n, Dim, 2*Dim, true)
		m.kernel.Score(values, hidden, h.output, h.last)
		for i, value := range values {
			scores[entities[first+i]] = value
		}
	}
}

// rowOf returns a view of a row of 64.
func rowOf(table []float32, row int32) []float32 { return stack.Row(table, Dim, row) }
