package answer

import (
	"context"
	"fmt"

	"tagnet/model/graph/kg"
	"tagnet/model/pretrained"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/parameters"
)

// Opened has the graph and the checkpoint that a model was opened from.
type Opened struct {
	// KG is the graph, without the facts of relations that the model does not know: KG.Unknown has them. View is the
	// graph of the queries.
	KG   *kg.KG
	View *kg.View
	// Record is the checkpoint's record. For weights that were trained elsewhere it is the record that Save writes.
	Record checkpoint.Record
	// Folder has the checkpoint; "" if no folder holds it.
	Folder checkpoint.Folder
	// Unused are the relations of the weights that the graph lacks.
	Unused []string
}

// Open opens the model that ref names over a graph, without the facts of relations that it does not know. Queries are
// about the inference graph. If it knows none of the relations, the error is a *checkpoint.UnknownRelationsError; other
// errors are as pretrained.Ref.Open returns them.
func Open(ctx context.Context, graph *kg.KG, ref pretrained.Ref, resources Resources) (*Model, error) {
	weights, err := ref.Open(ctx)
	if err != nil {
		return nil, err
	}
	if graph, err = graph.Without(ctx, weights.Unknown(graph.Relations)); err != nil {
		return nil, err
	}
	return FromWeights(graph, weights, resources)
}

// FromWeights returns the model of weights over a graph all of whose relations they know.
func FromWeights(graph *kg.KG, weights *pretrained.Weights, resources Resources) (*Model, error) {
	set, unused, err := weights.Over(graph.Relations)
	if err != nil {
		return nil, err
	}
	m := New(graph, weights.Record, set, resources)
	m.Unused, m.Folder = unused, weights.Folder
	if m.Folder == "" {
		m.Record.Origin = &weights.Origin
		m.Record.Epoch, m.Record.Step, m.Record.Partial, m.Record.Valid = 0, 0, nil, nil // they belong to another graph
		return m, m.Detach()
	}
	return m, nil
}

// New returns the model of a record with parameters over a graph.
func New(graph *kg.KG, r checkpoint.Record, p *parameters.Set[float32], resources Resources) *Model {
	return &Model{
		Opened: Opened{KG: graph, View: graph.Inference, Record: r},
		Graph:  graph.Inference.Graph, Configuration: r.Configuration, Parameters: p, Resources: resources,
	}
}

// ForSplit returns the model whose queries are about the graph of a split.
func (m *Model) ForSplit(split string) *Model {
	return m.withView(m.KG.View(split))
}

// withView returns the model whose queries are about a graph of KG.
func (m *Model) withView(view *kg.View) *Model {
	if view == m.View {
		return m
	}
	out := &Model{Opened: m.Opened, Graph: view.Graph, Configuration: m.Configuration, Parameters: m.Parameters, Resources: m.Resources}
	out.View = view
	return out
}

// Detach turns the record into one of this graph, not yet in any folder. Its configuration and origin stay.
func (m *Model) Detach() (err error) {
	m.Folder = ""
	m.Record.FormatVersion, m.Record.Vocabulary = checkpoint.FormatVersion, checkpoint.VocabularyOf(m.KG)
	m.Record.Weights, err = checkpoint.WeightsFile(m.Record, m.Parameters.Tensors)
	return err
}

// Save writes the checkpoint of a model that has none into a folder, which becomes the model's folder.
func (m *Model) Save(ctx context.Context, folder checkpoint.Folder) error {
	m.Folder = folder
	return folder.Save(ctx, m.Record, m.Parameters.Tensors, nil)
}

// SetReach sets the most entities that a query propagates through, 0 for all, or leaves them as in training for -1. It
// is an error for A*Net's policies, which select entities themselves.
func (m *Model) SetReach(entities int) error {
	c := &m.Configuration
	if entities >= 0 {
		c.Reach = entities
	}
	if c.Reach > 0 && c.Prioritized() {
		return fmt.Errorf("a reach of %d is not for policy %s", c.Reach, c.Policy)
	}
	return nil
}
