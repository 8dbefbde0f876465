package spec

import (
	"fmt"
	"slices"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Model is a configuration on a graph, with its parameters. It is read-only: passes may run concurrently.
type Model struct {
	graph         *graph.Graph
	configuration configuration.Configuration
	parameters    *parameters.Set[float64]
	between       Edges // between relations, where these come from their graph
}

// New returns the model. An invalid configuration, or parameters of another layout, are an error.
func New(g *graph.Graph, c configuration.Configuration, p *parameters.Set[float64]) (*Model, error) {
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("reference model: %w", err)
	}
	layout := parameters.Layout(c, g.RelationCount())
	if len(p.Tensors) != len(layout) {
		return nil, fmt.Errorf("reference model: %d parameters, want %d", len(p.Tensors), len(layout))
	}
	for i, want := range layout {
		if got := p.Tensors[i]; got.Name != want.Name || !slices.Equal(got.Shape, want.Shape) {
			return nil, fmt.Errorf("reference model: parameter %d is %s %v, want %s %v", i, got.Name, got.Shape, want.Name, want.Shape)
		}
	}
	m := &Model{graph: g, configuration: c, parameters: p}
	if c.Transfers() {
		m.between = RelationGraph(g)
	}
	return m, nil
}

// Query is a query, and how it is answered.
type Query struct {
	graph.Query
	// Inside, unless nil, are the entities of the query's reach, [V]: messages are sent between these alone.
	Inside []bool
	// Training chooses A*Net's ratios of training, not of evaluation.
	Training bool
	// Dropout returns the factor of a dimension of an entity's update in layer 1..T: 0 for dropped
	// ones, else 1/(1-probability). Nil drops nothing.
	Dropout func(layer int, entity int32, dimension int) float64
}

// Pass is the forward pass of one query, with all that the backward pass needs. V is the number of
// entities, d of dimensions, T of layers.
type Pass struct {
	Query Query
	// Distances has an entry per entity, hop.Unreached beyond T layers.
	Distances []uint8
	// Hiddens are the states after t = 0..T layers, [T+1][V*d].
	Hiddens [][]float64
	// Priorities are A*Net's priorities after t = 0..T layers, [T+1][V]; else nil.
	Priorities [][]float64
	// Attention is the share of an entity's state after t layers in its final state,
	// [(T+1)*V]; nil but for a specific delta.
	Attention []float64
	// Final is [V*d], the states that are scored.
	Final []float64
	// Scores are the logits of all entities, [V].
	Scores []float64
	// Counts has the counts of layer t at t-1.
	Counts []Counts

	model     *Model
	embedding []float64 // x_q, the query relation's embedding
	layers    []layer   // layer t at t-1
	// Where relations come from their graph: the states of all of them after 0 to L layers, [L+1][2R*d], the updates of
	// layer t at t-1, and the gradient of the final states in a backward pass.
	between        [][]float64
	betweenUpdates [][]*nodeUpdate
	gradStates     []float64

	explained [][]Edge // where the backward pass of Edges records the edges of layer t, at t-1; else nil
}

// Counts are the numbers of messages of one query in one layer. For policies with priorities the last
// three are not counted.
type Counts struct {
	// Active is the number of entities that are updated.
	Active int64
	// AStar is the number of edges that priorities select (A*Net only), Kept the number of edges along
	// which a message is sent.
	AStar, Kept int64
	// KeptEmpty is the number of messages sent by entities that are not reached yet, PrunedEmpty the
	// number of such messages not sent, PrunedRedundant the number of all others not sent.
	KeptEmpty, PrunedEmpty, PrunedRedundant int64
}

// Forward propagates and scores a query.
func (m *Model) Forward(q Query) *Pass {
	p := &Pass{Query: q, model: m}
	p.Distances = distances(m.graph, q.Source, m.configuration.Layers, q.Query, q.Inside)
	p.embedding = p.embed()
	p.propagate()
	p.Final = p.Hiddens[m.configuration.Layers]
	if m.configuration.Specific() {
		p.attend()
	}
	p.Scores = make([]float64, m.graph.Entities)
	for o := range p.Scores {
		if m.configuration.Prioritized() {
			p.Scores[o] = p.Priorities[m.configuration.Layers][o]
		} else {
			p.Scores[o] = m.score("mlp", row(p.Final, o, m.configuration.Dim), p.embedding)
		}
	}
	return p
}

// Backward adds to the gradients in into from the gradient of the scores, [V].
func (p *Pass) Backward(scores []float64, into *parameters.Set[float64]) {
	m, c := p.model, p.model.configuration
	embedding := make([]float64, c.Dim)
	states := p.noGradient()
	if c.Prioritized() {
		p.propagateBackward(states, scores, embedding, into)
	} else {
		final := make([]float64, len(p.Final))
		for o, gradient := range scores {
			if gradient != 0 {
				m.scoreBackward("mlp", row(p.Final, o, c.Dim), p.embedding, gradient, scoreGradients{row(final, o, c.Dim), embedding, into})
			}
		}
		if c.Specific() {
			p.attendBackward(final, states, embedding, into)
		} else {
			states[c.Layers] = final
		}
		p.propagateBackward(states, nil, embedding, into)
	}
	p.embedBackward(embedding, into)
}

// BackwardStates propagates the gradients of the states after t = 0..T layers, shaped as Hiddens, without
// final state, attention and score. It is not for A*Net, whose scores are part
// of the propagation.
func (p *Pass) BackwardStates(states [][]float64, into *parameters.Set[float64]) {
	embedding := make([]float64, p.model.configuration.Dim)
	copied := p.noGradient()
	for t := range states {
		copy(copied[t], states[t])
	}
	p.propagateBackward(copied, nil, embedding, into)
	p.embedBackward(embedding, into)
}

// noGradient returns zeros in the shape of Hiddens.
func (p *Pass) noGradient() [][]float64 {
	zeros := make([][]float64, len(p.Hiddens))
	for t := range zeros {
		zeros[t] = make([]float64, len(p.Hiddens[t]))
	}
	return zeros
}
