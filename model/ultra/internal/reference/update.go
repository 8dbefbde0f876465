package reference

import (
	"math"

	"tagnet/model/parameters"
)

const (
	dim     = 64
	layers  = 6
	epsilon = 1e-5 // keeps the layer norm of a constant vector finite
)

// update returns x + relu(layer_norm(W [x, total] + b)), where name begins the names of the layer's tensors.
func update(p *parameters.Set[float64], name string, x, total []float64) []float64 {
	y := affine(p, name+"linear", append(append([]float64(nil), x...), total...))
	scale, shift := p.Data(name+"layer_norm.weight"), p.Data(name+"layer_norm.bias")
	mean, deviation := statistics(y)
	next := make([]float64, dim)
	for j, v := range y {
		next[j] = x[j] + math.Max(0, (v-mean)/deviation*scale[j]+shift[j])
	}
	return next
}

// statistics returns the mean and the standard deviation that layer norm divides by.
func statistics(y []float64) (mean, deviation float64) {
	variance := 0.0
	for _, v := range y {
		mean += v / dim
	}
	for _, v := range y {
		variance += (v - mean) * (v - mean) / dim
	}
	return mean, math.Sqrt(variance + epsilon)
}

// affine returns W x + b for the linear map of a name.
func affine(p *parameters.Set[float64], name string, x []float64) []float64 {
	weight, bias := p.Data(name+".weight"), p.Data(name+".bias")
	y := make([]float64, len(bias))
	for i := range y {
		y[i] = bias[i]
		for j, v := range x {
			y[i] += weight[i*len(x)+j] * v
		}
	}
	return y
}

func relu(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Max(0, v)
	}
	return y
}
