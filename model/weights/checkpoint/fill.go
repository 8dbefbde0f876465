package checkpoint

import (
	"fmt"
	"slices"

	"tagnet/formats/workspace/safetensors"
	"tagnet/model/weights/parameters"
)

// Fill copies tensors into the parameters of a model. It is an error if a tensor is missing, unknown or of another
// shape; p may be filled in part then.
func Fill(p *parameters.Set[float32], tensors []safetensors.Tensor[float32]) error {
	given := map[string]safetensors.Tensor[float32]{}
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
