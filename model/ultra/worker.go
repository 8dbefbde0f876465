package ultra

import (
	"context"
	"fmt"

	"tagnet/model/graph"
	"tagnet/model/internal/buffer"
	"tagnet/model/internal/stack"
	"tagnet/model/kernel"
	"tagnet/model/ranking"
	"tagnet/model/window"
)

// Worker scores one query at a time. It is not for concurrent use: each goroutine has its own.
type Worker struct {
	model  *Model
	radius int
	layout *window.Layout
	source int32 // of the layout
	// laidOut reports that the layout is that of a propagation from source.
	laidOut bool
	// whole reports that the layout ends after middleLayer hops, within which nearly all entities are: later layers update all
	// entities of the graph.
	whole bool
	// states are, before and after a layer, the differences of entities' states to the ground states, by row of the layout; of a
	// whole graph after middleLayer the states themselves, by rank.
	states, next []float32
	buffers      *buffers
	sent         int64
}

// Worker returns a new worker whose queries change the states of entities at most radius edges from their source. Layers is exact;
// less is an approximation, in which entities farther away keep their ground states.
func (m *Model) Worker(radius int) *Worker {
	return &Worker{model: m, radius: min(radius, Layers), layout: window.NewLayout(m.graph, m.kernel, m.layout), buffers: newBuffers()}
}

// Scores sets scores, [V], to the logit of every entity as the answer of (source, relation, ?), where relation is the base
// relation of b or its inverse. A score that is NaN or infinite is an error, ranking.ErrNotFinite. A call with the source of the call before is faster: it shares the search.
// Scores checks ctx before each layer.
func (w *Worker) Scores(ctx context.Context, b *Base, source, relation int32, scores []float32) error {
	m := w.model
	direction := 0
	switch {
	case relation == m.inverse(b.relation):
		direction = 1
	case relation != b.relation:
		return fmt.Errorf("scoring relation %d with the states of base relation %d", relation, b.relation)
	}
	if source < 0 || int(source) >= m.graph.Entities || len(scores) != m.graph.Entities {
		return fmt.Errorf("scoring source %d with %d scores, the graph has %d entities", source, len(scores), m.graph.Entities)
	}
	if source != w.source || !w.laidOut {
		w.search(source)
	}
	q := &b.queries[direction]
	if err := w.propagate(ctx, b, q.state); err != nil {
		return err
	}
	if !w.whole {
		copy(scores, q.scores)
	}
	w.score(b, q, scores)
	return ranking.CheckFinite(source, relation, scores, m.kernel.Finite)
}

// Sent returns the number of messages that the last call of Scores sent.
func (w *Worker) Sent() int64 { return w.sent }

// middleLayer is the layer after which differences to the ground states are replaced by the states themselves where nearly all
// entities differ: the few messages of ground states that are sent then take less time than reading the ground states.
const middleLayer = 3

// Distance returns the number of edges from the source of the last call of Scores to an entity; reached is false where that is
// more than the radius.
func (w *Worker) Distance(entity int32) (hops int, reached bool) {
	if w.whole && w.layout.Row(entity) == kernel.Unreached {
		w.fill(w.source, Layers, Layers)
		w.whole, w.laidOut = false, false
	}
	row := w.layout.Row(entity)
	if row == kernel.Unreached {
		return 0, false
	}
	return w.layout.Distance(row), true
}

// search lays out what the source reaches.
func (w *Worker) search(source int32) {
	w.source, w.laidOut = source, true
	w.fill(source, min(w.radius, middleLayer), middleLayer)
	w.whole = w.radius == Layers && 4*w.layout.Count() > 3*w.model.graph.Entities
	if !w.whole {
		w.fill(source, w.radius, Layers)
	}
}

// fill lays out the entities at most hops away, and the senders that they hear within some layers.
func (w *Worker) fill(source int32, hops, layers int) {
	w.layout.Heard = layers
	w.layout.Fill(source, hops, Layers, 0, graph.Removal{})
}

// propagate computes the differences of the final states to the ground states, or the final states of a whole graph, given the
// state of the query's relation.
//
// Before layer t, the difference of an entity at distance t or more is zero. So in layer t an entity at distance t has messages
// from its parents alone, one at distance t-1 from its siblings too, and all others from their children too.
func (w *Worker) propagate(ctx context.Context, b *Base, query []float32) error {
	w.resize(w.layout.Count())
	copy(w.states, query) // the source has row 0
	w.sent = 0
	for t := 1; t <= Layers; t++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if w.whole && t > middleLayer {
			w.updateAll(b, t, query)
			continue
		}
		w.updateRows(b, t, 0, 1, query)
		nearer := min(t-1, w.radius+1) // levels whose entities have messages of all kinds
		if nearer > 1 {
			w.updateRows(b, t, 1, nearer, nil)
		}
		for level := max(1, t-1); level <= min(t, w.radius); level++ {
			w.updateRows(b, t, level, level+1, nil)
		}
		w.states, w.next = w.next, w.states
	}
	return nil
}

func (w *Worker) resize(rows int) {
	w.states, w.next = buffer.Resize(w.states, rows*Dim), buffer.Resize(w.next, rows*Dim)
}

// updateAll updates all entities in layer t. Before the first such layer it adds the differences to the ground states.
func (w *Worker) updateAll(b *Base, t int, query []float32) {
	m := w.model
	if t == middleLayer+1 {
		differences := w.states
		w.states = buffer.Resize(w.next, m.graph.Entities*Dim)
		for rank := range int32(m.graph.Entities) {
			state := rowOf(w.states, rank)
			copy(state, rowOf(b.middle, rank))
			if row := w.layout.RowOfRank(rank); row != kernel.Unreached {
				m.kernel.Add(state, rowOf(differences, row))
			}
		}
		w.next = buffer.Resize(differences, len(w.states))
	}
	m.updateAll(b, t, w.layout.Ranks()[0], query, w.states, w.next, w.buffers)
	w.sent += m.graph.Edges()
	w.states, w.next = w.next, w.states
}

// updateRows updates the entities of levels from to to-1, which are equally far from the layer's farthest ones or have messages of
// all kinds. initial is the boundary of the source.
func (w *Worker) updateRows(b *Base, t, from, to int, initial []float32) {
	l := w.layout
	rows := l.All()[l.Levels[from]:l.Levels[to]]
	r := stack.Receivers(Dim, l.Senders, w.states, b.tables[t-1])
	r.Rows, r.Kinds, r.Initial = rows, min(t-from, 2)+1, initial
	if from < t {
		r.Previous = w.states
	}
	for level := from; level < to; level++ {
		w.sent += l.Messages(level, r.Kinds)
	}
	w.buffers.Run(w.model.kernel, stack.Update{
		Layer: &w.model.weights.entities[t-1], Receivers: r, Output: w.next, Shared: b.shared[t-1], Ranks: l.Ranks(),
	})
}

// score sets the scores of the entities whose states differ from the ground states.
func (w *Worker) score(b *Base, q *queryHead, scores []float32) {
	if w.whole {
		w.buffers.score(w.model, q.shift, w.states, w.model.layout.Entities, scores)
		return
	}
	l := w.layout
	for row, rank := range l.Ranks() {
		w.model.kernel.Add(rowOf(w.states, int32(row)), rowOf(b.ground, rank))
	}
	w.buffers.score(w.model, q.shift, w.states, l.Entities, scores)
}
