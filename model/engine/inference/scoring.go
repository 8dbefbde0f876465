package inference

import (
	"context"
	"fmt"

	"tagnet/model/engine/kernel"
	"tagnet/model/engine/propagation"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/graph/parts"
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

// New returns a scorer with parameters p over g. g may differ from the training graph but must have the same
// relations. It is an error if the shapes of p do not fit c and g. between is the graph of the relations of g, or nil: the model makes
// it from g if it needs one.
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
	sent       []int64     // by relation of the last call
}

// Worker returns a new worker.
func (s *Scorer) Worker() *Worker {
	return &Worker{scorer: s, propagator: s.first.Clone(), zero: make([]float32, s.configuration.Dim)}
}

// Scores sets scores[i], [V], to the logit of every entity as the answer of (source, relations[i], ?). A score
// that is NaN or infinite is an error, ErrNotFinite. All
// unreached entities get the same score. Queries of one source are cheaper in one call: they share the search and
// the layout, and are propagated in batches where that is faster. Batches change no bit of the scores. Scores checks ctx before each layer.
func (w *Worker) Scores(ctx context.Context, source int32, relations []int32, scores [][]float32) error {
	return w.ScoresWithout(ctx, graph.Query{Source: source}, nil, relations, scores)
}

// ScoresWithout scores as Scores, from the source of q in the graph of q, or in a part of it unless nil; see propagation.Request.
func (w *Worker) ScoresWithout(ctx context.Context, q graph.Query, part *parts.Subgraph, relations []int32, scores [][]float32) error {
	if len(scores) != len(relations) {
		return fmt.Errorf("scoring: scores for %d queries, want %d", len(scores), len(relations))
	}
	w.sent = w.sent[:0]
	request := propagation.Request{Query: q, Part: part}
	for len(relations) > 0 {
		batch := relations[:min(w.propagator.MaxLanes(), len(relations))]
		if err := w.scoreBatch(ctx, request, batch, scores); err != nil {
			return err
		}
		relations, scores = relations[len(batch):], scores[len(batch):]
	}
	return nil
}

// scoreBatch scores all entities for relations that are propagated together.
func (w *Worker) scoreBatch(ctx context.Context, request propagation.Request, batch []int32, scores [][]float32) error {
	if err := w.propagator.ForwardBatch(ctx, w.scorer.weights, request, batch); err != nil {
		return fmt.Errorf("scoring: %w", err)
	}
	for lane, relation := range batch {
		w.sent = append(w.sent, w.propagator.Sent()/int64(len(batch))) // lanes send the same
		if err := w.scoreLane(lane, relation, scores[lane]); err != nil {
			return err
		}
		if err := checkFinite(request.Source, relation, scores[lane], w.scorer.kernel.Finite); err != nil {
			return err
		}
	}
	return nil
}

// scoreLane scores all entities for one relation of the last batch.
func (w *Worker) scoreLane(lane int, relation int32, scores []float32) error {
	s := w.scorer
	if len(scores) != s.graph.Entities {
		return fmt.Errorf("scoring: a query has %d scores, want one for each of %d entities", len(scores), s.graph.Entities)
	}
	if s.configuration.Prioritized() {
		w.propagator.Priorities(scores)
		return nil
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
	w.propagator.Score(lane, scores, w.scoreStates)
	return nil
}

// Sent returns the number of messages that the last call of Scores sent for the relation at a position.
func (w *Worker) Sent(at int) int64 { return w.sent[at] }

// Distance returns the fewest edges from the source of the last call of Scores to entity; reached is
// false beyond the model's layers.
func (w *Worker) Distance(entity int32) (hops int, reached bool) {
	return w.propagator.Distance(entity)
}

// LayerCounts returns the counts of A*Net's selection for the last query, one per layer.
func (w *Worker) LayerCounts() []propagation.LayerCount { return w.propagator.LayerCounts() }

// scoreStates scores entities by their final states.
func (w *Worker) scoreStates(states [][]float32, values []float32) {
	rows := states[0]
	if w.scorer.attention != nil {
		rows = w.attend(states, len(values))
	}
	w.hidden = w.score.rows(w.scorer.kernel, rows, values, w.hidden)
}

// grow returns s with n entries of any value, reallocated if it is too small.
func grow(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	return s[:n]
}
