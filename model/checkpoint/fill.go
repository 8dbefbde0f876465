package checkpoint

import (
	"fmt"
	"slices"

	"tagnet/formats/safetensors"
	"tagnet/model/parameters"
)

// Tensors returns parameters or moments as Folder.Save wants them. The data is shared, not copied.
func Tensors(parameters []parameters.Tensor[float32]) []safetensors.Tensor {
	tensors := make([]safetensors.Tensor, len(parameters))
	for i, t := range parameters {
		tensors[i] = safetensors.Tensor{Name: t.Name, Shape: t.Shape, Data: t.Data}
	}
	return tensors
}

// Fill copies tensors into the parameters of a model. It fails, having changed nothing that
// matters, where one is missing, unknown, or of another shape.
func Fill(p *parameters.Set[float32], tensors []safetensors.Tensor) error {
	given := map[string]safetensors.Tensor{}
	for _, t := range tensors {
		given[t.Name] = t
	}
	for _, t := range p.Tensors {
		g, ok := given[t.Name]
		if !ok {
			return fmt.Errorf("there is no tensor %s, of shape %v", t.Name, t.Shape)
		}
		if !slices.Equal(g.Shape, t.Shape) {
			return fmt.Errorf("tensor %s has shape %v, want %v", t.Name, g.Shape, t.Shape)
		}
		copy(t.Data, g.Data)
		delete(given, t.Name)
	}
	for _, t := range tensors {
		if _, ok := given[t.Name]; ok {
			return fmt.Errorf("tensor %s is not one of the model's", t.Name)
		}
	}
	return nil
}
