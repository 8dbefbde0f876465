package head

import (
	"fmt"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Head is one worker's graph. It reads the weights from the parameter set, so that all workers see each
// step of the optimizer at once. It is not for concurrent use.
type Head[F parameters.Float] struct {
	names    []string // of the head's parameters: none for A*Net's policies, whose score is part of the propagation
	machine  *machine
	products Products[F]

	query      []F // x_q, the graph's input
	candidates *candidates
	share      float64      // of the current query's answers in the batch's mean
	into       Gradients[F] // of the current query
	gradient   []F          // of its embedding, which the backward pass may overwrite in into
}

// Gradients are one query's gradients of the head's parameters.
type Gradients[F parameters.Float] struct {
	// Tensors has an entry per parameter of the head, row-major.
	Tensors [][]F
	// Query is the gradient of the query's embedding, [d], through the propagation and the head.
	Query []F
}

// Zero makes g the gradients of a query without any. Those of its embedding are the propagation's, too.
func (g *Gradients[F]) Zero() {
	for _, tensor := range g.Tensors {
		clear(tensor)
	}
	clear(g.Query)
}

// New builds the graph for answers with count candidates: the answer and at least one negative. It
// shares the weights of the parameter set.
func New[F parameters.Float](c configuration.Configuration, count int, p *parameters.Set[F], propagation Propagation[F],
	products Products[F]) (*Head[F], error) {
	if count < 2 {
		return nil, fmt.Errorf("building the head for %d candidates: want an answer and at least one negative", count)
	}
	h := &Head[F]{
		products:   products,
		candidates: &candidates{entities: make([]int32, count), validCounts: make([]int32, count)},
		gradient:   make([]F, c.Dim),
	}
	b := &builder[F]{
		head: h, configuration: c, set: p, products: products,
		count: count, depth: propagation.Depth(), width: propagation.Width(),
		graph: gorgonia.NewGraph(), inputs: map[string]*gorgonia.Node{},
	}
	if err := b.build(propagation); err != nil {
		return nil, fmt.Errorf("building the head: %w", err)
	}
	return h, nil
}

// NewGradients allocates the gradients of one query.
func (h *Head[F]) NewGradients() *Gradients[F] {
	g := &Gradients[F]{Query: make([]F, len(h.gradient))}
	for _, t := range h.into.Tensors {
		g.Tensors = append(g.Tensors, make([]F, len(t)))
	}
	return g
}

// Run computes the loss of one query, the sum over its answers, and sets its gradients. query is its embedding,
// [d]; entities are, for each answer, the answer and its negatives. share multiplies loss and gradients: 1/B in a
// batch of B answers.
func (h *Head[F]) Run(query []F, entities []int32, share float64, into *Gradients[F]) (loss float64, err error) {
	c := h.candidates
	count := len(c.entities)
	if len(entities) == 0 || len(entities)%count != 0 {
		return 0, fmt.Errorf("the query has %d candidates, want %d for each answer", len(entities), count)
	}
	copy(h.query, query)
	h.share = share
	copy(h.into.Tensors, into.Tensors)
	c.all = entities
	for c.answer = 0; c.answer*count < len(entities); c.answer++ {
		copy(c.entities, entities[c.answer*count:])
		one, err := h.runAnswer()
		if err != nil {
			return 0, err
		}
		loss += one
	}
	copy(into.Query, h.gradient)
	return loss, nil
}

// runAnswer runs the graph for the current answer and returns its loss.
func (h *Head[F]) runAnswer() (float64, error) {
	value, err := h.machine.run()
	if err != nil {
		return 0, err
	}
	switch v := value.Data().(type) {
	case float32:
		return float64(v), nil
	case float64:
		return v, nil
	}
	return 0, fmt.Errorf("the loss has type %T", value.Data())
}

// SumInto sets the gradients of the head's parameters in into to the sum over a batch, in the order of
// its queries. Those of the queries' embeddings are summed by the propagation.
func (h *Head[F]) SumInto(batch []*Gradients[F], into *parameters.Set[F]) {
	for i, name := range h.names {
		sum := into.Data(name)
		clear(sum)
		for _, query := range batch {
			h.products.Add(sum, query.Tensors[i])
		}
	}
}

func dense[F parameters.Float](data []F, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(data))
}
