package steps

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"tagnet/formats/workspace/safetensors"
)

// Prefixes of the moments' names, as in PyTorch's state.
const (
	firstPrefix  = "exp_avg."
	secondPrefix = "exp_avg_sq."
)

// State returns the moments as named tensors, in a fixed order, and the number of steps. A solver
// that Restore gives them continues to the same bits. The tensors share the solver's memory and are
// valid until the next step.
func (a *Adam) State() (tensors []safetensors.Tensor[float32], steps int64) {
	for _, t := range a.tensors {
		tensors = append(tensors, safetensors.Tensor[float32]{Name: firstPrefix + t.Name, Shape: t.Shape.Shape, Data: t.first})
	}
	for _, t := range a.tensors {
		tensors = append(tensors, safetensors.Tensor[float32]{Name: secondPrefix + t.Name, Shape: t.Shape.Shape, Data: t.second})
	}
	return tensors, a.steps
}

// Restore copies a state that State returned, its tensors in any order. It returns an error, and
// changes nothing, where a tensor is missing, unknown, or of another shape.
func (a *Adam) Restore(tensors []safetensors.Tensor[float32], steps int64) error {
	given := make(map[string]safetensors.Tensor[float32], len(tensors))
	for _, t := range tensors {
		given[t.Name] = t
	}
	// Check all tensors before the first is copied.
	current, _ := a.State()
	for _, t := range current {
		g, ok := given[t.Name]
		if !ok {
			return fmt.Errorf("restoring the solver: its state has no %s", t.Name)
		}
		if !slices.Equal(g.Shape, t.Shape) || len(g.Data) != len(t.Data) {
			return fmt.Errorf("restoring the solver: %s has shape %v, want %v", t.Name, g.Shape, t.Shape)
		}
		delete(given, t.Name)
	}
	if len(given) > 0 {
		return fmt.Errorf("restoring the solver: its state has unknown tensors: %s", strings.Join(slices.Sorted(maps.Keys(given)), ", "))
	}
	if steps < 0 {
		return fmt.Errorf("restoring the solver: %d steps", steps)
	}
	for _, t := range tensors {
		for _, o := range current {
			if o.Name == t.Name {
				copy(o.Data, t.Data)
			}
		}
	}
	a.steps = steps
	return nil
}
