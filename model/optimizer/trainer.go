package optimizer

import (
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"gorgonia.org/gorgonia"

	"tagnet/model/adam"
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/head"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
	"tagnet/model/propagation"
)

// Example is one training query (Source, Relation, ?) with its answer.
type Example struct {
	Source, Relation, Answer int32
	// Known are the answers of (Source, Relation) known while training, in ascending order.
	Known []int32
	// Key tells this asking of the query from all others: negatives and dropout derive from
	// it and the seed.
	Key uint64
	// Negatives are the entities to rank the answer against, as many as the configuration
	// says. Nil, as usual, where they are to be drawn.
	Negatives []int32
}

// Result says how a step went.
type Result struct {
	// Loss is the mean over the batch's queries, before the weights moved.
	Loss float64
	// Messages is how many the propagations sent forward.
	Messages int64
}

// ErrNotFinite says that a loss is NaN or infinite. The weights are as they were before the
// step.
var ErrNotFinite = errors.New("the loss is not finite")

// Trainer moves the weights of one model. It is not for concurrent use; its own workers are
// concurrent.
//
// Memory: about 4 bytes · batch size · layers · dim · (2R + 13 dim) of gradients, and per
// worker what package propagation says.
type Trainer struct {
	graph         *graph.Graph
	configuration configuration.Configuration
	kernel        kernel.Kernel
	parameters    *parameters.Set[float32]
	gradients     *parameters.Set[float32]
	model         []gorgonia.ValueGrad // parameters paired with gradients
	solver        *adam.Adam
	weights       *propagation.Weights
	workers       []*worker

	// By place in the batch.
	outcomes     []outcome
	propagations []*propagation.Gradients
	heads        []*head.Gradients[float32]
	relations    []int32
}

// outcome is what a worker leaves of a query, beside its gradients.
type outcome struct {
	loss     float64 // its share of the batch's mean
	messages int64
	err      error
}

// New returns a trainer of p, which it changes in place, with a number of workers (replicas)
// that share each batch. The number changes no result.
func New(g *graph.Graph, c configuration.Configuration, p *parameters.Set[float32], solver *adam.Adam, replicas int, k kernel.Kernel) (*Trainer, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("making a trainer: %w", err)
	}
	if replicas < 1 {
		return nil, fmt.Errorf("making a trainer: %d replicas, want 1 or more", replicas)
	}
	gradients := parameters.NewSet[float32](parameters.Layout(c, g.RelationCount()))
	t := &Trainer{
		graph: g, configuration: c, kernel: k,
		parameters: p, gradients: gradients, solver: solver,
		weights: propagation.NewWeights(g, c, true),
	}
	if err := t.weights.Load(k, p); err != nil {
		return nil, fmt.Errorf("making a trainer: %w", err)
	}
	t.model = adam.Model(p, gradients)
	propagator := propagation.New(g, c, k)
	for i := range replicas {
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

// Step moves the weights by the mean gradient of a batch. seed decides, with each example's
// key, what is drawn at random. On an error the weights are as they were; it wraps
// ErrNotFinite or is an adam.NotFiniteError where the numbers went astray.
func (t *Trainer) Step(examples []Example, seed uint64) (Result, error) {
	result, err := t.differentiate(examples, seed)
	if err != nil {
		return Result{}, err
	}
	if err := t.solver.Step(t.model); err != nil {
		return Result{}, err
	}
	return result, nil
}

// differentiate leaves the batch's gradient in t.gradients.
func (t *Trainer) differentiate(examples []Example, seed uint64) (Result, error) {
	if len(examples) == 0 {
		return Result{}, errors.New("a training step without examples")
	}
	t.reserve(len(examples))
	if err := t.weights.Load(t.kernel, t.parameters); err != nil {
		return Result{}, err
	}
	for i, e := range examples {
		t.relations[i] = e.Relation
	}
	t.weights.Embed(t.kernel, t.relations[:len(examples)])
	t.work(examples, seed)

	var result Result
	for i, o := range t.outcomes[:len(examples)] {
		e := examples[i]
		if o.err != nil {
			return Result{}, fmt.Errorf("training on source %d, relation %d, answer %d: %w", e.Source, e.Relation, e.Answer, o.err)
		}
		if math.IsNaN(o.loss) || math.IsInf(o.loss, 0) {
			return Result{}, fmt.Errorf("training on source %d, relation %d, answer %d: loss %g: %w", e.Source, e.Relation, e.Answer, o.loss, ErrNotFinite)
		}
		result.Loss += o.loss
		result.Messages += o.messages
	}
	return result, t.sum(len(examples))
}

// reserve makes room for the gradients of n queries.
func (t *Trainer) reserve(n int) {
	for len(t.propagations) < n {
		p, h := propagation.NewGradients(t.configuration, t.graph.RelationCount()), t.workers[0].head.NewGradients()
		h.Query = p.Query // the graph adds the head's share to the propagation's: one place holds the sum
		t.propagations, t.heads = append(t.propagations, p), append(t.heads, h)
		t.outcomes, t.relations = append(t.outcomes, outcome{}), append(t.relations, 0)
	}
}

// work has the workers share the batch. Who takes which query is left to chance: each query
// has a slot of its own for all that comes of it.
func (t *Trainer) work(examples []Example, seed uint64) {
	var next atomic.Int64
	take := func(w *worker) {
		for i := next.Add(1) - 1; i < int64(len(examples)); i = next.Add(1) - 1 {
			t.outcomes[i] = w.run(examples[i], seed, 1/float64(len(examples)), t.propagations[i], t.heads[i])
		}
	}
	workers := t.workers[:min(len(t.workers), len(examples))]
	if len(workers) == 1 {
		take(workers[0])
		return
	}
	var done sync.WaitGroup
	for _, w := range workers {
		done.Go(func() { take(w) })
	}
	done.Wait()
}

// sum sets every gradient to the sum of n queries', in their order.
func (t *Trainer) sum(n int) error {
	if err := propagation.Sum(t.kernel, t.weights, t.propagations[:n], t.relations[:n], t.gradients); err != nil {
		return err
	}
	t.workers[0].head.SumInto(t.heads[:n], t.gradients)
	return nil
}
