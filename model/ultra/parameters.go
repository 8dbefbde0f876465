package ultra

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"tagnet/formats/pytorch"
	"tagnet/model/parameters"
)

// The dimensions of a state, and the layers of either part of the model.
const (
	Dim    = 64
	Layers = 6
)

// types is the number of types of edges between relations, and of rows of a layer's weights.
const types = 4

// Names of the model's parts, with which those of their tensors begin.
const (
	relationPart = "relation_model."
	entityPart   = "entity_model."
)

// Layout returns the 82 tensors of the model, 168,705 numbers in all, in the order of the published files.
func Layout() []parameters.Shape {
	var shapes []parameters.Shape
	add := func(name string, shape ...int) { shapes = append(shapes, parameters.Shape{Name: name, Shape: shape}) }
	update := func(name string) {
		add(name+"layer_norm.weight", Dim)
		add(name+"layer_norm.bias", Dim)
		add(name+"linear.weight", Dim, 2*Dim)
		add(name+"linear.bias", Dim)
	}
	for t := range Layers {
		name := fmt.Sprintf(relationPart+"layers.%d.", t)
		update(name)
		add(name+"relation.weight", types, Dim)
	}
	for t := range Layers {
		name := fmt.Sprintf(entityPart+"layers.%d.", t)
		update(name)
		for _, i := range []int{0, 2} {
			add(fmt.Sprintf("%srelation_projection.%d.weight", name, i), Dim, Dim)
			add(fmt.Sprintf("%srelation_projection.%d.bias", name, i), Dim)
		}
	}
	add(entityPart+"mlp.0.weight", 2*Dim, 2*Dim)
	add(entityPart+"mlp.0.bias", 2*Dim)
	add(entityPart+"mlp.2.weight", 1, 2*Dim)
	add(entityPart+"mlp.2.bias", 1)
	return shapes
}

// Recognizes reports whether tensors of a checkpoint are named as ULTRA's: whether Parameters should read them rather than a
// reader of another architecture. It says nothing of whether they are complete.
func Recognizes(tensors []pytorch.Tensor) bool {
	return slices.ContainsFunc(tensors, func(t pytorch.Tensor) bool {
		return strings.HasPrefix(t.Name, relationPart) || strings.HasPrefix(t.Name, entityPart)
	})
}

// Parameters reads the weights of a checkpoint, {"model": state_dict, ...} or a state_dict. A tensor that is missing, that the
// model lacks, or that has another shape is an error that names it. What the checkpoint has beside the state_dict, such as the
// optimizer's state, is not read.
func Parameters(f *pytorch.File) (*parameters.Set[float32], error) {
	tensors, err := f.StateDict("model")
	if err != nil {
		return nil, err
	}
	if !Recognizes(tensors) {
		return nil, fmt.Errorf("it is no ULTRA model: no tensor's name begins with %s or %s%s", relationPart, entityPart, example(tensors))
	}
	if err := checkLayout(tensors); err != nil {
		return nil, err
	}
	if err := f.Load(tensors); err != nil {
		return nil, err
	}
	set := parameters.NewSet[float32](Layout())
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

// checkLayout compares names and shapes of all tensors with those of the model.
func checkLayout(tensors []pytorch.Tensor) error {
	unknown := make(map[string]pytorch.Tensor, len(tensors))
	for _, t := range tensors {
		unknown[t.Name] = t
	}
	for _, want := range Layout() {
		t, ok := unknown[want.Name]
		if !ok {
			return fmt.Errorf("it has no tensor %s of shape %v: only ULTRA models of %d layers of %d dimensions, as published, can be read",
				want.Name, want.Shape, Layers, Dim)
		}
		if !slices.Equal(t.Shape, want.Shape) {
			return fmt.Errorf("tensor %s has shape %v, want %v: only ULTRA models of %d layers of %d dimensions, as published, can be read",
				want.Name, t.Shape, want.Shape, Layers, Dim)
		}
		delete(unknown, want.Name)
	}
	if len(unknown) > 0 {
		return fmt.Errorf("it has a tensor %.80q, which ULTRA lacks", slices.Min(slices.Collect(maps.Keys(unknown))))
	}
	return nil
}
