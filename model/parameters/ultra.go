package parameters

import (
	"fmt"

	"tagnet/model/configuration"
)

// Names with which those of the tensors of ULTRA's two parts begin, and the number of types of edges between relations.
const (
	RelationPart  = "relation_model."
	EntityPart    = "entity_model."
	RelationTypes = 4
)

// layoutULTRA lists the tensors of ULTRA in the order of its published files.
func layoutULTRA(c configuration.Configuration) []Shape {
	d := c.Dim
	var layout []Shape
	add := func(name string, shape ...int) { layout = append(layout, Shape{name, shape}) }
	update := func(name string) {
		add(name+"layer_norm.weight", d)
		add(name+"layer_norm.bias", d)
		add(name+"linear.weight", d, 2*d)
		add(name+"linear.bias", d)
	}
	for t := range c.Layers {
		name := fmt.Sprintf(RelationPart+"layers.%d.", t)
		update(name)
		add(name+"relation.weight", RelationTypes, d)
	}
	for t := range c.Layers {
		name := fmt.Sprintf(EntityPart+"layers.%d.", t)
		update(name)
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
