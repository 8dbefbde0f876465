package checkpoint

import (
	"fmt"
	"slices"

	"tagnet/formats/workspace/safetensors"
	"tagnet/model/weights/parameters"
)

// Tensors returns parameters or moments as Folder.Save wants them. The data is shared, not copied.
func Tensors(parameters []parameters.Tensor[float32]) []safetensors.Tensor {
	tensors := make([]safetensors.Tensor, len(parameters))
	for i, t := range parameters {
		tensors[i] = safetensors.Tensor{Name: t.Name, Shape: t.Shape, Data: t.Data}
	}
	return tensors
}

// Fill copies tensors into the parameters of a model. It is an error if a tensor is missing, unknown or of another
// shape; p may be filled in part then.
func Fill(p *parameters.Set[float32], tensors []safetensors.Tensor) error {
	given := map[string]safetensors.Tensor{}
	for _, t := range tensors {
		given[t.Name] = t
	}
	for _, t := range p.Tensors {
		g, ok := given[t.Name]
		if !ok {
			return fmt.Errorf("tensor %s of shape %v is missing", t.Name, t.Shape)
		}
		if !slices.Equal(g.Shape, t.Shape) {
			return fmt.Errorf("tensor %s has shape %v, want %v", t.Name, g.Shape, t.Shape)
		}
		copy(t.Data, g.Data)
		delete(given, t.Name)
	}
	for _, t := range tensors {
		if _, ok := given[t.Name]; ok {
			return fmt.Errorf("tensor %s is unknown", t.Name)
		}
	}
	return nil
}
