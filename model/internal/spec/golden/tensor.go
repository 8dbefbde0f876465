package golden

import (
	"fmt"
	"slices"

	"tagnet/model/weights/parameters"
)

// tensor is an array in the format on disk, row-major.
type tensor struct {
	Shape []int     `json:"shape"`
	Data  []float64 `json:"data"`
}

// check returns an error unless the tensor has a shape and as many values.
func (t tensor) check(name string, shape []int) error {
	if !slices.Equal(t.Shape, shape) {
		return fmt.Errorf("%s has shape %v, want %v", name, t.Shape, shape)
	}
	if size := (parameters.Shape{Shape: shape}).Size(); len(t.Data) != size {
		return fmt.Errorf("%s has %d values, want %d", name, len(t.Data), size)
	}
	return nil
}

// readSet returns tensors in the order of the layout. A tensor that is missing, or not in the layout,
// is an error.
func readSet(layout []parameters.Shape, tensors map[string]tensor) (*parameters.Set[float64], error) {
	set := parameters.NewSet[float64](layout)
	for i, l := range layout {
		t, ok := tensors[l.Name]
		if !ok {
			return nil, fmt.Errorf("%s is missing", l.Name)
		}
		if err := t.check(l.Name, l.Shape); err != nil {
			return nil, err
		}
		copy(set.Tensors[i].Data, t.Data)
	}
	for name := range tensors {
		if set.Data(name) == nil {
			return nil, fmt.Errorf("%s is not of this configuration's model", name)
		}
	}
	return set, nil
}
