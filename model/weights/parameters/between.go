package parameters

import (
	"fmt"
	"strings"

	"tagnet/model/weights/configuration"
)

// The prefixes of the names of tensors, for the two parts of a model whose relations come from a graph, and the number
// of types of edges between relations.
const (
	RelationPart  = "relation_model."
	EntityPart    = "entity_model."
	RelationTypes = 4
)

// OfSource returns the layout of the tensors of a set that compute the embeddings of relations.
func OfSource[F Float](s *Set[F]) (layout []Shape) {
	for _, t := range s.Tensors {
		if strings.HasPrefix(t.Name, RelationPart) || strings.Contains(t.Name, ".relation_projection.") {
			layout = append(layout, Shape{t.Name, t.Shape})
		}
	}
	return layout
}

// layoutBetween lists the tensors of a model whose relations come from a graph, in the order of
// ULTRA's published files.
func layoutBetween(c configuration.Configuration) []Shape {
	d := c.Dim
	var layout []Shape
	add := func(name string, shape ...int) { layout = append(layout, Shape{name, shape}) }
	update := func(name string, inputs int) {
		add(name+"layer_norm.weight", d)
		add(name+"layer_norm.bias", d)
		add(name+"linear.weight", d, inputs)
		add(name+"linear.bias", d)
	}
	for t := range c.RelationLayers {
		name := fmt.Sprintf(RelationPart+"layers.%d.", t)
		update(name, 2*d)
		add(name+"relation.weight", RelationTypes, d)
	}
	for t := range c.Layers {
		name := fmt.Sprintf(EntityPart+"layers.%d.", t)
		update(name, d+c.UpdateWidth())
		for _, i := range []int{0, 2} {
			add(fmt.Sprintf("%srelation_projection.%d.weight", name, i), d, d)
			add(fmt.Sprintf("%srelation_projection.%d.bias", name, i), d)
		}
	}
	add(EntityPart+"mlp.0.weight", 2*d, 2*d)
	add(EntityPart+"mlp.0.bias", 2*d)
	add(EntityPart+"mlp.2.weight", 1, 2*d)
	add(EntityPart+"mlp.2.bias", 1)
	return layout
}
