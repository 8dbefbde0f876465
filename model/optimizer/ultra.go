package optimizer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorgonia.org/gorgonia"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/head"
	"tagnet/model/kernel"
	"tagnet/model/parallel"
	"tagnet/model/parameters"
	"tagnet/model/relations"
	"tagnet/model/ultra"
)

// ULTRATrainer is a Trainer of ULTRA. All parameters are trained, those of the relation part too: each query's loss is
// differentiated through the states of the relations of its base relation. It is not safe for concurrent use; its own workers are
// concurrent.
//
// Memory: 0.7 MB a query of the batch, and per worker what ultra.Propagator says.
type ULTRATrainer struct {
	graph         *graph.Graph
	configuration configuration.Configuration
	kernel        kernel.Kernel
	parameters    *parameters.Set[float32]
	gradients     *parameters.Set[float32]
	model         []gorgonia.ValueGrad // parameters paired with gradients
	solver        *Adam
	ultra         *ultra.Model
	workers       []*ultraWorker

	// By position in the batch.
	outcomes []outcome
	queries  []*ultra.Gradients
	order    []int // positions, ordered by base relation
}

// NewULTRA returns a trainer of p, which it changes in place. relations is the relation graph of g. Each batch is shared by
// replicas workers; their number changes no result.
func NewULTRA(g *graph.Graph, relations *relations.Graph, c configuration.Configuration, p *parameters.Set[float32], solver *Adam, replicas int, k kernel.Kernel) (*ULTRATrainer, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("making a trainer: %w", err)
	}
	if replicas < 1 || !c.ULTRA() {
		return nil, fmt.Errorf("making a trainer: %d replicas and architecture %q, want 1 or more and %s", replicas, c.Architecture, configuration.ArchitectureULTRA)
	}
	t := &ULTRATrainer{
		graph: g, configuration: c, kernel: k, parameters: p, gradients: parameters.NewSet[float32](ultra.Layout()), solver: solver,
		ultra: ultra.New(p, g, relations, k),
	}
	t.model = pairs(p, t.gradients)
	for range replicas {
		w, err := newULTRAWorker(t)
		if err != nil {
			return nil, fmt.Errorf("making a trainer: %w", err)
		}
		t.workers = append(t.workers, w)
	}
	return t, nil
}

// Step changes the weights as Trainer.Step does.
func (t *ULTRATrainer) Step(examples []Example, seed uint64) (Result, error) {
	if len(examples) == 0 {
		return Result{}, errors.New("a training step without examples")
	}
	t.reserve(examples)
	t.ultra.Load(t.parameters)
	share := 1 / float64(len(examples))
	// Results are stored by position in the batch: which worker takes a query changes nothing.
	parallel.Workers(len(t.workers), len(examples), func(worker, task int) {
		i := t.order[task]
		t.outcomes[i] = t.workers[worker].run(examples[i], seed, share, t.queries[i])
	})
	result, err := total(examples, t.outcomes)
	if err != nil {
		return Result{}, err
	}
	ultra.Sum(t.kernel, t.queries[:len(examples)], t.gradients, len(t.workers))
	if err := t.solver.Step(t.model); err != nil {
		return Result{}, err
	}
	return result, nil
}

// Store does nothing: Step changes the weights and the solver's state in place.
func (t *ULTRATrainer) Store() error { return nil }

// Close does nothing: the garbage collector frees the trainer's memory.
func (t *ULTRATrainer) Close() error { return nil }

// reserve allocates the gradients of a batch, once, and orders it: a worker computes what queries of a base relation share once
// for neighbours.
func (t *ULTRATrainer) reserve(examples []Example) {
	for len(t.queries) < len(examples) {
		t.queries, t.outcomes = append(t.queries, ultra.NewGradients()), append(t.outcomes, outcome{})
	}
	t.order = t.order[:0]
	for i := range examples {
		t.order = append(t.order, i)
	}
	base := func(i int) int32 { return examples[i].Relation % int32(t.graph.BaseRelations) }
	slices.SortStableFunc(t.order, func(i, j int) int { return int(base(i) - base(j)) })
}

// ultraWorker computes one query at a time, with buffers of its own. It implements head.Propagation for its head.
type ultraWorker struct {
	trainer    *ULTRATrainer
	propagator *ultra.Propagator
	sampler    *Sampler
	head       *head.Head[float32]
	// state is the state of the current query's relation, which the head reads as the embedding of relation 0, [64].
	state         []float32
	headGradients *head.Gradients[float32]

	entities  []int32 // the answer, then the negatives
	query     ultra.TrainingQuery
	gradients *ultra.Gradients // the current query's
}

func newULTRAWorker(t *ULTRATrainer) (*ultraWorker, error) {
	w := &ultraWorker{
		trainer: t, propagator: t.ultra.Propagator(), sampler: NewSampler(t.graph.Entities, t.configuration.StrictNegatives),
		entities: make([]int32, 1+t.configuration.Negatives),
	}
	own := t.headParameters()
	w.state = own.Data("query.weight")
	var err error
	if w.head, err = head.New(t.configuration, len(w.entities), own, head.Propagation[float32](w), head.Products[float32](t.kernel)); err != nil {
		return nil, err
	}
	w.headGradients = w.head.NewGradients()
	return w, nil
}

// headParameters returns the parameters that a head reads, which share the memory of the model's, and an embedding of one
// relation.
func (t *ULTRATrainer) headParameters() *parameters.Set[float32] {
	layout := []parameters.Shape{{Name: "query.weight", Shape: []int{1, ultra.Dim}}}
	for _, shape := range ultra.Layout() {
		if name, ok := strings.CutPrefix(shape.Name, parameters.EntityPart+"mlp."); ok {
			layout = append(layout, parameters.Shape{Name: "mlp." + name, Shape: shape.Shape})
		}
	}
	own := parameters.NewSet[float32](layout)
	for i := range own.Tensors[1:] {
		own.Tensors[1+i].Data = t.parameters.Data(parameters.EntityPart + layout[1+i].Name)
	}
	return own
}

// run computes one query's loss and gradients. share is its weight in the batch's mean.
func (w *ultraWorker) run(e Example, seed uint64, share float64, g *ultra.Gradients) outcome {
	t := w.trainer
	if err := w.sampler.candidates(e, t.graph, seed, w.entities); err != nil {
		return outcome{err: err}
	}
	w.query = ultra.TrainingQuery{
		Source: e.Source, Relation: e.Relation, Removal: Removal(e, t.graph, t.configuration), Candidates: w.entities,
	}
	g.Clear()
	w.gradients = g
	for i, name := range w.head.Names() {
		w.headGradients.Tensors[i] = g.Set.Data(parameters.EntityPart + name)
	}
	copy(w.state, w.propagator.Relations(e.Relation))
	loss, err := w.head.Run(0, w.entities, share, w.headGradients)
	if err != nil {
		return outcome{err: err}
	}
	w.propagator.BackwardRelations(w.headGradients.Query, g)
	return outcome{loss: loss, messages: w.propagator.Sent()}
}

// Depth, Width, Forward, Candidates and Backward implement head.Propagation.

func (w *ultraWorker) Depth() int { return 1 }

func (w *ultraWorker) Width() int { return ultra.Dim }

func (w *ultraWorker) Forward() error { return w.propagator.Forward(w.query) }

func (w *ultraWorker) Candidates(entities []int32, states []float32, valid []int32) {
	w.propagator.Candidates(entities, states)
	for i := range valid {
		valid[i] = 1
	}
}

func (w *ultraWorker) Backward(entities []int32, gradient []float32, query []float32) error {
	return w.propagator.Backward(entities, gradient, w.gradients, query)
}
