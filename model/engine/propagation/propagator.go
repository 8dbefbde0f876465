package propagation

import (
	"context"
	"fmt"
	"math"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/parts"
	"tagnet/model/engine/window"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// Request is a query, and how it is propagated.
type Request struct {
	graph.Query
	// Candidates are the entities whose final states will be read: within a window, only the states
	// that these depend on are computed. Nil stands for all entities.
	Candidates []int32
	// Training applies dropout, and keeps what Backward needs.
	Training bool
	// ShareStates computes equivalent states once while training within a window, without dropout. The
	// gradients are the same but for rounding. Scoring always does so.
	ShareStates bool
	// Part, unless nil, is the part that parts.Finder finds for the query, with a reach. It never changes.
	Part *parts.Subgraph
	// Seed determines the dropout masks.
	Seed uint64
}

// The largest graph that a propagator takes: it counts a query's messages in an int32, and so the
// rows of a state table and the two tables before it.
const (
	maxEdges    = math.MaxInt32
	maxEntities = math.MaxInt32 / 2
)

// Propagator answers queries one after the other. It owns all buffers and reuses them, so a query
// allocates nothing once the largest has been seen. It is not for concurrent use: each worker has
// its own, see Clone.
//
// Memory for n reached entities of V and a window of delta: 8 · V · dim bytes of states, of which
// n / V are touched; training holds 4 · (delta+1) · V · dim, as much again of gradients, and
// 4 · (delta+1) · n · (width + dim) bytes for the backward pass. The policy full has layers+1 state
// tables instead. With a reach, V is that, and the buffers do not depend on the graph.
type Propagator struct {
	*runner
	policy policy
	done   bool // the last query was propagated
	// whole is the graph of the queries. With a reach, the runner's graph is the part that the last query
	// propagated through.
	whole *graph.Graph
}

// New returns a propagator over g for a model of configuration c.
func New(g *graph.Graph, c configuration.Configuration, k kernel.Kernel) *Propagator {
	return newPropagator(g, c, k, nil)
}

// Clone returns another propagator over the same graph, which shares what never changes.
func (p *Propagator) Clone() *Propagator {
	return newPropagator(p.whole, p.configuration, p.kernel, p.layout)
}

// newPropagator returns a propagator over a graph, or with a reach over parts of it. shared, which may be nil, is the
// layout of a clone.
func newPropagator(g *graph.Graph, c configuration.Configuration, k kernel.Kernel, shared *window.Layout) *Propagator {
	part, reach := g, (*within)(nil)
	if c.Reach > 0 {
		part, reach = new(parts.Subgraph).Of(g), newWithin(g, c)
	}
	r := newRunner(part, c, k, window.NewLayout(part, k, shared))
	r.reach = reach
	return &Propagator{runner: r, policy: policies[c.Policy](r), whole: g}
}

// Forward propagates from the query's source. The states stay until the next call. It checks ctx before each layer.
func (p *Propagator) Forward(ctx context.Context, w *Weights, q Request) error {
	return p.ForwardRelation(ctx, w, q, q.Relation)
}

// ForwardRelation propagates a query whose relation stands in for q.Relation, but for what leaves the graph. It reuses
// the distances and the layout of the last query where the source and the graph are equal.
func (p *Propagator) ForwardRelation(ctx context.Context, w *Weights, q Request, relation int32) error {
	p.relation = relation
	if err := p.check(w, q); err != nil {
		return err
	}
	if p.reach != nil {
		q = p.enter(q)
	}
	p.sameGraph = p.done && q.SameGraph(p.query.Query) && q.Training == p.query.Training
	p.sameSearch = p.sameGraph && q.Source == p.query.Source
	p.distances.current = p.distances.current && p.sameSearch
	p.weights, p.query, p.sent, p.updated = w, q, 0, 0
	p.folded.maps = nil // the weights may have changed
	p.embedding, p.embeddings = w.Relations.Query(p.relation), w.Relations.Tables(p.relation, &p.buffers)
	err := p.policy.forward(ctx)
	p.done = err == nil
	return err
}

// check returns an error unless weights and request fit the graph.
func (p *Propagator) check(w *Weights, q Request) error {
	g := p.whole
	if w.configuration != p.configuration || w.relationCount != g.RelationCount() {
		return fmt.Errorf("propagating: the weights belong to another configuration or number of relations (%d, want %d)", w.relationCount, g.RelationCount())
	}
	if g.Edges() > maxEdges || g.Entities > maxEntities {
		return fmt.Errorf("propagating: a graph of %d edges and %d entities is too large: want at most %d and %d", g.Edges(), g.Entities, maxEdges, maxEntities)
	}
	if g.IsOutline() && (p.reach == nil || q.Part == nil) {
		return fmt.Errorf("propagating: the edges of the graph are not held, and the query has no part of it")
	}
	if part := q.Part; part != nil && part.Entities[part.Source] != q.Source {
		return fmt.Errorf("propagating: source %d has the part of another, %d", q.Source, part.Entities[part.Source])
	}
	if q.Source < 0 || int(q.Source) >= g.Entities {
		return fmt.Errorf("propagating: source %d is out of range 0..%d", q.Source, g.Entities-1)
	}
	if p.relation < 0 || int(p.relation) >= w.relationCount {
		return fmt.Errorf("propagating: relation %d is out of range 0..%d", p.relation, w.relationCount-1)
	}
	if q.ShareStates && (!p.policy.sharesEqual() || p.configuration.Dropout > 0) {
		return fmt.Errorf("propagating: states are shared within a window without dropout, not with policy %s and dropout %g", p.configuration.Policy,
			p.configuration.Dropout)
	}
	if q.Training && !w.training {
		return fmt.Errorf("propagating: the weights were not made for training")
	}
	return nil
}

// Backward propagates the gradient of the candidates' states, laid out as Candidates writes them,
// through the last Forward, which must have been for training. It sets into, except for the parts
// that Sum computes for a whole batch.
func (p *Propagator) Backward(entities []int32, gradient []float32, into *Gradients) error {
	if !p.query.Training {
		return fmt.Errorf("propagating backward: the last query was not for training")
	}
	into.Zero()
	p.policy.backward(entities, gradient, into)
	return nil
}

// Sent returns the number of messages that the last Forward sent: admitted messages, without empty
// ones, except TransE's, which are not zero.
func (p *Propagator) Sent() int64 { return p.sent }

// Updated returns the number of entities that the last Forward updated, summed over its layers, as Sent counts.
func (p *Propagator) Updated() int64 { return p.updated }
