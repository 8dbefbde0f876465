package gpu

import (
	"strings"

	"tagnet/formats/workspace/safetensors"
	"tagnet/model/parallel"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// paddedDim returns the dimension of the kernels that compute a model's.
func paddedDim(dim int) int {
	padded := 32
	for padded < dim {
		padded *= 2
	}
	return padded
}

// padding lays the parameters of a model out in the kernels' dimensions: entries beyond the model's are 0 and stay 0.
type padding struct {
	layout []parameters.Shape // the kernels'
	size   int                // values of all its tensors
	places []places           // by tensor
}

// places are the offsets of a tensor's values among the kernels' parameters: rows[i] + columns[j] for
// row i and column j.
type places struct{ rows, columns []int }

// newPadding returns the positions of the parameters of c in tensors whose rows have dim entries.
func newPadding(c configuration.Configuration, dim, relations int) padding {
	wide := c
	wide.Dim = dim
	p := padding{layout: parameters.Layout(wide, relations)}
	d := dimensions{c.Dim, dim}
	for i, shape := range parameters.Layout(c, relations) {
		p.places = append(p.places, d.placesOf(shape, p.layout[i], p.size))
		p.size += p.layout[i].Size()
	}
	return p
}

// dimensions are a model's and the kernels'.
type dimensions struct{ model, kernels int }

// vectors returns the places of the values of vectors one behind the other, each with n values for a dimension.
func (d dimensions) vectors(size, n int) []int {
	places := make([]int, size)
	for i := range places {
		vector, value := i/(n*d.model), i%(n*d.model)
		places[i] = vector*n*d.kernels + value
	}
	return places
}

// placesOf returns the places of a tensor of the model's layout, given the tensor in the kernels' layout
// and its first index.
func (d dimensions) placesOf(narrow, wide parameters.Shape, at int) (p places) {
	last := len(narrow.Shape) - 1
	columns, stride := narrow.Shape[last], wide.Shape[last]
	rows, is := narrow.Size()/columns, func(suffix string) bool { return strings.HasSuffix(narrow.Name, suffix) }
	p.rows, p.columns = parallel.Indices[int](rows), parallel.Indices[int](columns)
	switch {
	case is("relation_linear.weight"):
		p.rows, p.columns = d.vectors(rows, 1), d.vectors(columns, 1)
	case is(".linear.weight"): // the own state, and the update
		p.rows, p.columns = d.vectors(rows, 1), d.vectors(d.model, 1)
		for _, place := range d.vectors(columns-d.model, (columns-d.model)/d.model) {
			p.columns = append(p.columns, d.kernels+place)
		}
	case is("relation_projection.2.weight"): // from hidden units
		p.rows = d.vectors(rows, 1)
	case is("relation_projection.2.bias"):
		p.columns = d.vectors(columns, 1)
	case is(".0.bias"), is(".2.weight"), is(".2.bias"): // hidden units
	default:
		p.columns = d.vectors(columns, 1)
	}
	for i := range p.rows {
		p.rows[i] = at + p.rows[i]*stride
	}
	return p
}

// pad returns tensors in the kernels' layout.
func (p padding) pad(tensors []safetensors.Tensor[float32]) []float32 {
	values := make([]float32, p.size)
	p.each(tensors, func(value *float32, place int) { values[place] = *value })
	return values
}

// cut sets tensors from values in the kernels' layout.
func (p padding) cut(values []float32, tensors []safetensors.Tensor[float32]) {
	p.each(tensors, func(value *float32, place int) { *value = values[place] })
}

func (p padding) each(tensors []safetensors.Tensor[float32], visit func(value *float32, place int)) {
	for i, t := range tensors {
		columns := p.places[i].columns
		for row, at := range p.places[i].rows {
			for j, column := range columns {
				visit(&t.Data[row*len(columns)+j], at+column)
			}
		}
	}
}
