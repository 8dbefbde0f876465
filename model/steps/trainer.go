package steps

import (
	"errors"
	"fmt"
	"math"

	"tagnet/model/engine/head"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/propagation"
	"tagnet/model/engine/relations"
	"tagnet/model/graph"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Result has the loss and the cost of a step.
type Result struct {
	// Loss is the mean over the answers of the batch's queries, with the weights before the step. An answer that is
	// left out has loss 0.
	Loss float64
	// Messages is the number of messages that the forward passes sent.
	Messages int64
}

// ErrNotFinite reports a loss that is NaN or infinite. No weight was changed.
var ErrNotFinite = errors.New("the loss is not finite")

// Trainer trains one model. It is not safe for concurrent use; its own workers are concurrent.
//
// Memory: about 4 bytes · batch size · layers · dim · (2R + 13 dim) of gradients, and per
// worker what package propagation says.
type Trainer struct {
	graph         *graph.Graph
	configuration configuration.Configuration
	kernel        kernel.Kernel
	parameters    *parameters.Set[float32]
	gradients     *parameters.Set[float32]
	solver        *Adam
	weights       *propagation.Weights
	workers       []*worker

	// By position in the batch.
	outcomes     []outcome
	propagations []*propagation.Gradients
	heads        []*head.Gradients[float32]
	relations    []int32
}

// outcome is a worker's result for a query, beside its gradients.
type outcome struct {
	loss     float64 // its summand of the batch's mean
	messages int64
	err      error
}

// New returns a trainer of p, which it changes in place. between is the graph of the relations of g, or nil: the model
// makes it from g if it needs one. That many threads share each batch; their number changes no result.
func New(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32], solver *Adam, threads int,
	k kernel.Kernel) (*Trainer, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("making a trainer: %w", err)
	}
	if threads < 1 {
		return nil, fmt.Errorf("making a trainer: %d threads, want 1 or more", threads)
	}
	c = c.Within(g.Entities)
	t := &Trainer{
		graph: g, configuration: c, kernel: k,
		parameters: p, gradients: parameters.NewSet[float32](parameters.Layout(c, g.RelationCount())), solver: solver,
		weights: propagation.NewWeights(g, between, c, true),
	}
	if err := t.weights.Load(k, p); err != nil {
		return nil, fmt.Errorf("making a trainer: %w", err)
	}
	// Threads have propagators of their own, which share the layout of the graph.
	propagator := propagation.New(g, c, k)
	for i := range threads {
		if i > 0 {
			propagator = t.workers[0].propagator.Clone()
		}
		w, err := newWorker(t, propagator)
		if err != nil {
			return nil, fmt.Errorf("making a trainer: %w", err)
		}
		t.workers = append(t.workers, w)
	}
	return t, nil
}

// Step changes the weights by the mean gradient of a batch, in which each answer weighs the same. seed and
// the examples' keys decide all random draws. A step is made whole: callers look at their context between
// steps. On an error no weight has changed; it wraps ErrNotFinite if a loss is not finite, and is a
// NotFiniteError if a gradient is not.
func (t *Trainer) Step(examples []Example, seed uint64) (Result, error) {
	result, err := t.differentiate(examples, seed)
	if err != nil {
		return Result{}, err
	}
	if err := t.solver.Step(t.parameters, t.gradients); err != nil {
		return Result{}, err
	}
	return result, nil
}

// Announce does nothing: a step is prepared when it is made.
func (t *Trainer) Announce(func() ([]Example, uint64)) {}

// Store does nothing: Step changes the weights and the solver's state in place.
func (t *Trainer) Store() error { return nil }

// Load does nothing either.
func (t *Trainer) Load() error { return nil }

// Close does nothing: the garbage collector frees the trainer's memory.
func (t *Trainer) Close() error { return nil }

// differentiate sets t.gradients to the gradient of the batch's mean loss.
func (t *Trainer) differentiate(examples []Example, seed uint64) (Result, error) {
	if len(examples) == 0 {
		return Result{}, errors.New("a training step without examples")
	}
	t.reserve(len(examples))
	if err := t.weights.Load(t.kernel, t.parameters); err != nil {
		return Result{}, err
	}
	answers := 0
	for i, e := range examples {
		t.relations[i] = e.Relation
		answers += e.Answers()
	}
	t.weights.Relations.Prepare(t.relations[:len(examples)])
	share := 1 / float64(answers)
	// Results are stored by position in the batch: which worker takes a query changes nothing.
	parallel.Workers(len(t.workers), len(examples), func(worker, i int) {
		t.outcomes[i] = t.workers[worker].run(examples[i], seed, share, t.propagations[i], t.heads[i])
	})

	result, err := total(examples, t.outcomes)
	if err != nil {
		return Result{}, err
	}
	return result, t.sum(len(examples))
}

// total returns the sum of the outcomes of a batch, in the order of its examples.
func total(examples []Example, outcomes []outcome) (result Result, err error) {
	for i, e := range examples {
		o := outcomes[i]
		if o.err != nil {
			return Result{}, Failed(e, o.err)
		}
		if math.IsNaN(o.loss) || math.IsInf(o.loss, 0) {
			return Result{}, Failed(e, fmt.Errorf("loss %g: %w", o.loss, ErrNotFinite))
		}
		result.Loss += o.loss
		result.Messages += o.messages
	}
	return result, nil
}

// Failed returns the error of an example.
func Failed(e Example, err error) error {
	return &graph.QueryError{Doing: "training on", Query: e.Query, Err: err}
}

// reserve allocates n gradients, once.
func (t *Trainer) reserve(n int) {
	for len(t.propagations) < n {
		p, h := propagation.NewGradients(t.configuration, t.graph.RelationCount()), t.workers[0].head.NewGradients()
		h.Query = p.Query // the head adds to the propagation's gradient of the query embedding
		t.propagations, t.heads = append(t.propagations, p), append(t.heads, h)
		t.outcomes, t.relations = append(t.outcomes, outcome{}), append(t.relations, 0)
	}
}

// sum sets every gradient to the sum of n queries', in their order.
func (t *Trainer) sum(n int) error {
	if err := propagation.Sum(t.kernel, t.weights, t.propagations[:n], t.relations[:n], t.gradients); err != nil {
		return err
	}
	t.workers[0].head.SumInto(t.heads[:n], t.gradients)
	return nil
}
