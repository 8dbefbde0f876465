package inference

import (
	"context"
	"fmt"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/parts"
	"tagnet/model/engine/propagation"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Scorer holds a trained model's weights in the layout of scoring. Its workers share it.
type Scorer struct {
	graph         *graph.Graph
	configuration configuration.Configuration
	kernel        kernel.Kernel
	weights       *propagation.Weights
	first         *propagation.Propagator
	score         *mlp
	attention     *mlp // nil unless delta is specific; may be score
}

// New returns a scorer with parameters p over g. g may differ from the training graph but must have the same relations.
// It is an error if the shapes of p do not fit c and g. between is the graph of the relations of g, or nil: the model
// makes it from g if it needs one.
func New(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32], k kernel.Kernel) (*Scorer, error) {
	c = c.Within(g.Entities)
	weights := propagation.NewWeights(g, between, c, false)
	if err := weights.Load(k, p); err != nil {
		return nil, fmt.Errorf("preparing to score: %w", err)
	}
	s := &Scorer{graph: g, configuration: c, kernel: k, weights: weights, first: propagation.New(g, c, k)}
	if c.Prioritized() {
		return s, nil
	}
	s.score = newMLP("mlp", c.Dim, p)
	if c.Specific() {
		s.attention = s.score
		if c.Attention == configuration.AttentionOwn {
			s.attention = newMLP("attention", c.Dim, p)
		}
	}
	return s, nil
}

// Group returns a number for relations whose queries are answered faster one after another.
func (s *Scorer) Group(relation int32) int32 { return s.weights.Relations.Group(relation) }

// Worker scores the queries of one source at a time. It is not for concurrent use. Its buffers grow to the largest
// query and are then reused.
type Worker struct {
	scorer     *Scorer
	propagator *propagation.Propagator
	embedding  []float32
	score      queryMLP
	attention  queryMLP
	hidden     []float32
	logits     [][]float32 // of the attention, by age, a chunk each
	final      []float32   // states of a chunk of rows
	zero       []float32   // the state of an unreached entity
}

// Worker returns a new worker.
func (s *Scorer) Worker() *Worker {
	return &Worker{scorer: s, propagator: s.first.Clone(), zero: make([]float32, s.configuration.Dim)}
}

// Scores sets scores, [V], to the logit of every entity as the answer of (source, relation, ?). A score that is NaN
// or infinite is an error, ErrNotFinite. All unreached entities get the same score. Queries of one source are
// cheaper one after another: they share the search and the layout, which changes no bit of the scores. Scores
// checks ctx before each layer.
func (w *Worker) Scores(ctx context.Context, source, relation int32, scores []float32) error {
	return w.ScoresWithout(ctx, graph.Query{Source: source}, nil, relation, scores)
}

// ScoresWithout scores as Scores, from the source of q in the graph of q, or in a part of it unless nil; see
// propagation.Request.
func (w *Worker) ScoresWithout(ctx context.Context, q graph.Query, part *parts.Subgraph, relation int32, scores []float32) error {
	if entities := w.scorer.graph.Entities; len(scores) != entities {
		return fmt.Errorf("scoring: a query has %d scores, want one for each of %d entities", len(scores), entities)
	}
	if err := w.propagator.ForwardRelation(ctx, w.scorer.weights, propagation.Request{Query: q, Part: part}, relation); err != nil {
		return fmt.Errorf("scoring: %w", err)
	}
	w.scoreAll(relation, scores)
	return checkFinite(q.Source, relation, scores)
}

// scoreAll scores all entities for the relation that was propagated last.
func (w *Worker) scoreAll(relation int32, scores []float32) {
	s := w.scorer
	if s.configuration.Prioritized() {
		w.propagator.Priorities(scores)
		return
	}
	w.embedding = s.weights.Relations.Query(relation)
	w.score.prepare(s.kernel, s.score, w.embedding)
	if s.attention != nil {
		w.attention.prepare(s.kernel, s.attention, w.embedding)
	}
	unreached := [1]float32{}
	w.hidden = w.score.rows(s.kernel, w.zero, unreached[:], w.hidden)
	for o := range scores {
		scores[o] = unreached[0]
	}
	w.propagator.Score(scores, w.scoreStates)
}

// Sent returns the number of messages that the last call of Scores sent.
func (w *Worker) Sent() int64 { return w.propagator.Sent() }

// Distance returns the fewest edges from the source of the last call of Scores to entity; reached is
// false beyond the model's layers.
func (w *Worker) Distance(entity int32) (hops int, reached bool) {
	return w.propagator.Distance(entity)
}

// scoreStates scores entities by their final states.
func (w *Worker) scoreStates(states [][]float32, values []float32) {
	rows := states[0]
	if w.scorer.attention != nil {
		rows = w.attend(states, len(values))
	}
	w.hidden = w.score.rows(w.scorer.kernel, rows, values, w.hidden)
}
