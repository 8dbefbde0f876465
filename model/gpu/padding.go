package gpu

import (
	"strings"

	"tagnet/model/configuration"
	"tagnet/model/parameters"
)

// paddedDim returns the dimension of the kernels that compute a model's.
func paddedDim(dim int) int {
	padded := 32
	for padded < dim {
		padded *= 2
	}
	return padded
}

// padding puts the parameters of a model of fewer dimensions than the kernels' into theirs: the other dimensions are 0 and stay 0.
type padding struct {
	layout []parameters.Shape // the kernels'
	size   int                // values of all its tensors
	runs   [][]run            // by tensor
}

// run is a range of a tensor's values and where it lies among the kernels' parameters.
type run struct{ from, to, length int }

func newPadding(c configuration.Configuration, dim, relations int) padding {
	wide := c
	wide.Dim = dim
	p := padding{layout: parameters.Layout(wide, relations)}
	for i, shape := range parameters.Layout(c, relations) {
		p.runs = append(p.runs, runsOf(shape, p.layout[i], c.Dim, dim, p.size))
		p.size += p.layout[i].Size()
	}
	return p
}

// runsOf returns where the values of a tensor of narrow go in one of wide, which begins at an index.
func runsOf(narrow, wide parameters.Shape, d, dim, at int) (runs []run) {
	if d == dim {
		return []run{{0, at, narrow.Size()}}
	}
	rows, columns, wideColumns := narrow.Size()/narrow.Shape[len(narrow.Shape)-1], narrow.Shape[len(narrow.Shape)-1], wide.Shape[len(wide.Shape)-1]
	if strings.HasSuffix(narrow.Name, "relation_linear.bias") { // a row a relation
		rows, columns, wideColumns = columns/d, d, dim
	}
	// A row begins with dimensions; what follows them, of an update or of a query's embedding, begins behind all of the kernels'.
	split := strings.HasSuffix(narrow.Name, ".linear.weight") || strings.HasSuffix(narrow.Name, ".0.weight")
	for i := range rows {
		to := i
		if strings.HasSuffix(narrow.Name, "relation_linear.weight") {
			to = i/d*dim + i%d
		}
		from, to := i*columns, at+to*wideColumns
		if split {
			runs = append(runs, run{from, to, d}, run{from + d, to + dim, columns - d})
		} else {
			runs = append(runs, run{from, to, columns})
		}
	}
	return runs
}

// pad returns tensors in the kernels' layout.
func (p padding) pad(tensors []parameters.Tensor[float32]) []float32 {
	values := make([]float32, p.size)
	for i, t := range tensors {
		for _, r := range p.runs[i] {
			copy(values[r.to:r.to+r.length], t.Data[r.from:])
		}
	}
	return values
}

// cut sets tensors from values in the kernels' layout.
func (p padding) cut(values []float32, tensors []parameters.Tensor[float32]) {
	for i, t := range tensors {
		for _, r := range p.runs[i] {
			copy(t.Data[r.from:r.from+r.length], values[r.to:])
		}
	}
}
