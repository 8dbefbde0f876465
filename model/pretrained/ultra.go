package pretrained

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tagnet/formats/input/pytorch"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// ULTRA is a foundation model for knowledge graphs (Galkin et al., ICLR 2024): one set of weights, none of which
// belongs to an entity or a relation, answers queries on any graph.
//
// They are weights of a configuration: relations from their graph (package relations), policy full, sums of DistMult
// messages, six layers of 64 dimensions in either part. In the relation graph, relations are nodes, with an edge
// wherever an entity is on a side of both. For a query of a base relation, six layers of messages between relations,
// which start from ones at that relation, give every relation a state. These states take the place of learned
// embeddings: six tables of messages are projected from them, and the state of the query's relation is the source's
// first state. Then six layers of messages between entities give the final states, which are scored.
//
// Queries of both directions of a relation share the relations' states.
//
// A window with a bound, as TAGNet has, does not fit these weights: the residual connections grow with each layer, and
// near entities would end early, at another scale than far ones.
//
// In training (package steps) each query removes its fact from the graph of entities. The relation graph keeps the
// fact, as in the authors' program.
//
// Messages along an edge are multiplied by the row of its inverse: the authors' program sends so, and package relations
// orders its tables for it.

// The dimensions of a state, and the layers of either part of the model.
const (
	ULTRADim    = 64
	ULTRALayers = 6
)

// ULTRAConfiguration returns the configuration of the model, and the hyperparameters to train it further with: from the
// paper's fine-tuning, Galkin et al., ICLR 2024.
func ULTRAConfiguration() configuration.Configuration {
	c := configuration.Default()
	c.Relations, c.RelationLayers, c.Layers, c.Dim = configuration.RelationsGraph, ULTRALayers, ULTRALayers, ULTRADim
	c.Policy, c.Delta = configuration.PolicyFull, 0
	c.Aggregate, c.Message = configuration.AggregateSum, configuration.MessageDistMult
	c.Negatives, c.AdversarialTemperature = 256, 1
	c.LearningRate, c.LearningRateDecay, c.WeightDecay, c.BatchSize, c.Epochs = 5e-4, 1, 1e-2, 64, 1
	return c
}

// ULTRALayout returns the 82 tensors of the model, 168,705 numbers in all, in the order of the published files.
func ULTRALayout() []parameters.Shape { return parameters.Layout(ULTRAConfiguration(), 0) }

// ULTRAParameters reads the weights of a checkpoint, {"model": state_dict, ...} or a state_dict. The error names
// a tensor that is missing, unknown, or has another shape. The rest of the checkpoint, such as the optimizer's
// state, is not read.
func ULTRAParameters(f *pytorch.File) (*parameters.Set[float32], error) {
	tensors, err := f.StateDict()
	if err != nil {
		return nil, err
	}
	named := func(t pytorch.Tensor) bool {
		return strings.HasPrefix(t.Name, parameters.RelationPart) || strings.HasPrefix(t.Name, parameters.EntityPart)
	}
	if !slices.ContainsFunc(tensors, named) {
		return nil, fmt.Errorf("it is no ULTRA model: no tensor's name begins with %s or %s%s",
			parameters.RelationPart, parameters.EntityPart, example(tensors))
	}
	if err := checkLayout(tensors); err != nil {
		return nil, err
	}
	if err := f.Load(tensors); err != nil {
		return nil, err
	}
	set := parameters.NewSet[float32](ULTRALayout())
	for _, t := range tensors {
		copy(set.Data(t.Name), t.Data)
	}
	return set, nil
}

// example names a tensor of another model, for messages.
func example(tensors []pytorch.Tensor) string {
	if len(tensors) == 0 {
		return " (it has no tensors)"
	}
	return fmt.Sprintf(" (the first is %.80q)", tensors[0].Name)
}

// checkLayout compares names and shapes of all tensors with the model's.
func checkLayout(tensors []pytorch.Tensor) error {
	unknown := make(map[string]pytorch.Tensor, len(tensors))
	for _, t := range tensors {
		unknown[t.Name] = t
	}
	for _, want := range ULTRALayout() {
		t, ok := unknown[want.Name]
		if !ok {
			return fmt.Errorf("it has no tensor %s of shape %v: only ULTRA models of %d layers of %d dimensions, as published, can be read",
				want.Name, want.Shape, ULTRALayers, ULTRADim)
		}
		if !slices.Equal(t.Shape, want.Shape) {
			return fmt.Errorf("tensor %s has shape %v, want %v: only ULTRA models of %d layers of %d dimensions, as published, can be read",
				want.Name, t.Shape, want.Shape, ULTRALayers, ULTRADim)
		}
		delete(unknown, want.Name)
	}
	if len(unknown) > 0 {
		return fmt.Errorf("it has a tensor %.80q, which ULTRA lacks", slices.Min(slices.Collect(maps.Keys(unknown))))
	}
	return nil
}
