package parameters

import (
	"fmt"
	"slices"

	"tagnet/formats/workspace/safetensors"
	"tagnet/model/weights/configuration"
)

// Float is the type of a tensor's entries: float64 for the specification, float32 for the kernels.
type Float interface{ ~float32 | ~float64 }

// Set holds all tensors of a model, or their gradients, in the order of Layout.
type Set[F Float] struct {
	Tensors []safetensors.Tensor[F]
	byName  map[string]int
}

// NewSet returns zeros in the given layout.
func NewSet[F Float](layout []Shape) *Set[F] {
	s := &Set[F]{byName: make(map[string]int, len(layout))}
	for i, l := range layout {
		s.Tensors = append(s.Tensors, safetensors.Tensor[F]{Name: l.Name, Shape: slices.Clone(l.Shape), Data: make([]F, l.Size())})
		s.byName[l.Name] = i
	}
	return s
}

// Data returns the values of a tensor by name, or nil if the model has no such tensor: a model
// without bias has no layers.0.linear.bias. Names of the part of entities may lack its prefix.
func (s *Set[F]) Data(name string) []F {
	if t := s.Tensor(name); t != nil {
		return t.Data
	}
	return nil
}

// Tensor returns a tensor by name, or nil; see Data.
func (s *Set[F]) Tensor(name string) *safetensors.Tensor[F] {
	for _, name := range []string{name, EntityPart + name} {
		if i, ok := s.byName[name]; ok {
			return &s.Tensors[i]
		}
	}
	return nil
}

// Layer returns the values of a tensor of layer t (1..T, as in the paper), or nil.
// Layer(1, "linear.weight") is layers.0.linear.weight.
func (s *Set[F]) Layer(t int, name string) []F {
	return s.Data(fmt.Sprintf("layers.%d.%s", t-1, name))
}

// Shape is the name and the dimensions of a tensor.
type Shape struct {
	Name  string
	Shape []int
}

// Size returns the number of values in the tensor.
func (s Shape) Size() int {
	size := 1
	for _, n := range s.Shape {
		size *= n
	}
	return size
}

// Layout lists the tensors of a configuration's model over a number of relations (2R, inverses included), in the order
// of NBFNet-PyG's state_dict, or of ULTRA's where relations come from a graph: then no tensor depends on their number.
func Layout(c configuration.Configuration, relations int) []Shape {
	if c.Transfers() {
		return layoutBetween(c)
	}
	d := c.Dim
	ofRelations, query := c.RelationTensors()
	var layout []Shape
	add := func(name string, shape ...int) { layout = append(layout, Shape{name, shape}) }
	// The layers of the propagation.
	for t := range c.Layers {
		layer := fmt.Sprintf("layers.%d.", t)
		if c.Bias {
			add(layer+"layer_norm.weight", d)
			add(layer+"layer_norm.bias", d)
		}
		add(layer+"linear.weight", d, d+c.UpdateWidth())
		if c.Bias {
			add(layer+"linear.bias", d)
		}
		for _, tensor := range ofRelations {
			add(layer+tensor.Name, tensor.Shape(relations, d)...)
		}
		if c.DegreeMessages {
			add(layer+"degree", d)
		}
	}
	// The embeddings of queries' relations, and A*Net's map of state and query.
	if query {
		add("query.weight", relations, d)
	}
	if c.Prioritized() {
		add("linear.weight", d, 2*d)
		add("linear.bias", d)
	}
	// The score's MLP, and the attention's.
	addMLP := func(name string, in int) {
		add(name+".0.weight", 2*d, in)
		add(name+".0.bias", 2*d)
		add(name+".2.weight", 1, 2*d)
		add(name+".2.bias", 1)
	}
	if c.Prioritized() {
		addMLP("mlp", d)
	} else {
		addMLP("mlp", 2*d)
	}
	if c.Specific() && c.Attention == configuration.AttentionOwn {
		addMLP("attention", 2*d)
	}
	return layout
}
