package adam

import (
	"fmt"
	"slices"
	"strings"

	"tagnet/model/parameters"
)

// The names of the moments, before the tensor's own: those of PyTorch's state.
const (
	firstPrefix  = "exp_avg."
	secondPrefix = "exp_avg_sq."
)

// State returns the moments as named tensors, in a fixed order, and the number of steps: all
// that a later Restore needs to go on as if there had been no break. The tensors share the
// solver's memory: write them before the next step.
func (a *Adam) State() (tensors []parameters.Tensor[float32], steps int64) {
	for _, t := range a.tensors {
		tensors = append(tensors, parameters.Tensor[float32]{Name: firstPrefix + t.Name, Shape: t.Shape.Shape, Data: t.first})
	}
	for _, t := range a.tensors {
		tensors = append(tensors, parameters.Tensor[float32]{Name: secondPrefix + t.Name, Shape: t.Shape.Shape, Data: t.second})
	}
	return tensors, a.steps
}

// Restore takes over a state that State returned, in any order, by copying. It fails, and
// changes nothing, where a tensor is missing, unknown, or of another shape.
func (a *Adam) Restore(tensors []parameters.Tensor[float32], steps int64) error {
	given := make(map[string]parameters.Tensor[float32], len(tensors))
	for _, t := range tensors {
		given[t.Name] = t
	}
	own, _ := a.State()
	for _, t := range own {
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
		var names []string
		for name := range given {
			names = append(names, name)
		}
		slices.Sort(names)
		return fmt.Errorf("restoring the solver: its state has unknown tensors: %s", strings.Join(names, ", "))
	}
	if steps < 0 {
		return fmt.Errorf("restoring the solver: %d steps", steps)
	}
	for _, t := range tensors {
		for _, o := range own {
			if o.Name == t.Name {
				copy(o.Data, t.Data)
			}
		}
	}
	a.steps = steps
	return nil
}
