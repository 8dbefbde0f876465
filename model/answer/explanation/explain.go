package explanation

import (
	"context"
	"fmt"
	"math"

	"tagnet/model/engine/inference"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/propagation"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Explainer explains answers of a trained model. It is read-only: its workers share it.
type Explainer struct {
	graph         *graph.Graph
	configuration configuration.Configuration
	weights       *propagation.Weights
	first         *propagation.Propagator
	scorer        scorer
}

// New returns an explainer for parameters p of configuration c over g. It is an error if the shapes of p do not fit.
// between is the graph of the relations of g, or nil: the model makes it from g if it needs one.
func New(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32], k kernel.Kernel) (*Explainer, error) {
	c.Dropout = 0 // derivatives need the pass that training makes, but of the model as it scores
	c = c.Within(g.Entities)
	weights := propagation.NewWeights(g, between, c, true)
	if err := weights.Load(k, p); err != nil {
		return nil, fmt.Errorf("preparing to explain: %w", err)
	}
	return &Explainer{graph: g, configuration: c, weights: weights, first: propagation.New(g, c, k), scorer: scorer{c, p}}, nil
}

// Explanation is why an answer has its score.
type Explanation struct {
	Score float64
	// Paths are the best, best first; none where the answer is the source or farther away than the model has layers.
	Paths []Path
}

// Weights says in a sentence what the weights of paths are, for a person.
func Weights(c configuration.Configuration) string {
	if c.Prioritized() {
		return "The weight of a path is the mean priority of its senders, relative to the highest in their layers (A*Net): no " +
			"probability, and no share of the score."
	}
	const share = "The weight of a path is its share of influence on the score, to first order: no probability, and it may be negative."
	if c.Policy == configuration.PolicyFull {
		return share + " Entities have states also where nothing from the source arrives, and messages carry these too: not all of a score comes along paths."
	}
	return share
}

// Worker explains one answer at a time. It is not for concurrent use. Its buffers grow to the largest query
// and are then reused.
type Worker struct {
	explainer  *Explainer
	propagator *propagation.Propagator
	gradients  *propagation.Gradients // of parameters, which nobody reads; nil for A*Net's policies
	finder     *finder
	searcher   *graph.Searcher
	hops       []uint8 // from the answer to every entity
	states     []float32
	gradient   []float32
}

// Worker returns a new worker.
//
// Memory: as a propagator takes while training (see package propagation), of which for the policies with a window only
// what the answer depends on is touched, and 24 bytes for each edge of each layer that a path may take.
func (e *Explainer) Worker() *Worker {
	w := &Worker{explainer: e, propagator: e.first.Clone(), finder: newFinder(e.graph.Entities, e.graph.BaseRelations), searcher: graph.NewSearcher(e.graph),
		hops: make([]uint8, e.graph.Entities)}
	if !e.configuration.Prioritized() {
		w.gradients = propagation.NewGradients(e.configuration, e.graph.RelationCount())
		size := w.propagator.Depth() * w.propagator.Width()
		w.states, w.gradient = make([]float32, size), make([]float32, size)
	}
	return w
}

// Explain returns the score of an entity as the answer of q, whose own answer only says what leaves the graph, and the
// k best paths to it: simple and merged ones, or with walks all. It checks ctx before each layer.
func (w *Worker) Explain(ctx context.Context, q graph.Query, answer int32, k int, walks bool) (Explanation, error) {
	g := w.explainer.graph
	if answer < 0 || int(answer) >= g.Entities {
		return Explanation{}, fmt.Errorf("explaining: answer %d is out of range 0..%d", answer, g.Entities-1)
	}
	score, edges, err := w.edges(ctx, q, answer)
	if err != nil {
		return Explanation{}, err
	}
	if math.IsNaN(score) || math.IsInf(score, 0) {
		return Explanation{}, fmt.Errorf("explaining: %w", inference.NotFinite(q.Source, q.Relation, 1, 1))
	}
	paths, err := w.finder.best(ctx, edges, q.Source, answer, k, walks)
	return Explanation{Score: score, Paths: paths}, err
}

// edges returns the score of an answer, and the edges of layer t at t-1 that lead to it, with their values.
func (w *Worker) edges(ctx context.Context, q graph.Query, answer int32) (score float64, layers [][]propagation.Edge, err error) {
	e, p := w.explainer, w.propagator
	// A receiver from which the remaining layers do not reach the answer is on no path.
	w.searcher.Search(answer, e.configuration.Layers, q, w.hops)
	keep := func(layer int, receiver int32) bool { return int(w.hops[receiver]) <= e.configuration.Layers-layer }
	request := propagation.Request{Query: q}
	if e.configuration.Prioritized() {
		if err := p.Forward(ctx, e.weights, request); err != nil {
			return 0, nil, fmt.Errorf("explaining: %w", err)
		}
		state, valid := [1]float32{}, [1]int32{}
		p.Candidates([]int32{answer}, state[:], valid[:])
		return float64(state[0]), p.SenderPriorities(keep), nil
	}
	request.Training, request.Candidates = true, []int32{answer}
	if err := p.Forward(ctx, e.weights, request); err != nil {
		return 0, nil, fmt.Errorf("explaining: %w", err)
	}
	valid := [1]int32{}
	p.Candidates(request.Candidates, w.states, valid[:])
	size := int(valid[0]) * e.configuration.Dim
	clear(w.gradient)
	score = e.scorer.score(w.states[:size], e.weights.Relations.Query(q.Relation), w.gradient[:size])
	layers, err = p.EdgeGradients(ctx, answer, w.gradient, w.gradients, keep)
	return score, layers, err
}
