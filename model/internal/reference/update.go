package reference

import (
	"math"

	"tagnet/model/parameters"
)

// epsilon keeps the layer norm of a constant vector finite.
const epsilon = 1e-5

// nodeUpdate is the change of an entity's state in one layer:
// dropout(relu(layer_norm(linear(input)))).
type nodeUpdate struct {
	input      []float64 // [own state, update vector]
	normalized []float64 // before scale and shift
	deviation  float64   // sqrt(variance + epsilon)
	dropout    []float64 // factors
	added      []float64
}

// update computes the update of o in layer t.
func (p *Pass) update(t int, o int32, input []float64) *nodeUpdate {
	weights := p.model.parameters
	u := &nodeUpdate{input: input}
	linear := affine(weights.Layer(t, "linear.weight"), weights.Layer(t, "linear.bias"), input)
	u.normalized, u.deviation = normalize(linear)
	scale, shift := weights.Layer(t, "layer_norm.weight"), weights.Layer(t, "layer_norm.bias")
	for j, value := range u.normalized {
		if scale != nil {
			value = value*scale[j] + shift[j]
		}
		factor := 1.0
		if p.Query.Dropout != nil {
			factor = p.Query.Dropout(t, o, j)
		}
		u.dropout = append(u.dropout, factor)
		u.added = append(u.added, factor*math.Max(value, 0))
	}
	return u
}

// updateBackward propagates the gradient of the change to the parameters of layer t and to the input,
// whose gradient it returns.
func (p *Pass) updateBackward(t int, u *nodeUpdate, added []float64, into *parameters.Set[float64]) []float64 {
	weights := p.model.parameters
	scale, shift := weights.Layer(t, "layer_norm.weight"), weights.Layer(t, "layer_norm.bias")
	gradientScale, gradientShift := into.Layer(t, "layer_norm.weight"), into.Layer(t, "layer_norm.bias")
	normalized := make([]float64, len(added))
	for j, gradient := range added {
		value := u.normalized[j]
		if scale != nil {
			value = value*scale[j] + shift[j]
		}
		if !(value > 0) {
			continue // relu
		}
		gradient *= u.dropout[j]
		normalized[j] = gradient
		if scale != nil {
			gradientScale[j] += gradient * u.normalized[j]
			gradientShift[j] += gradient
			normalized[j] = gradient * scale[j]
		}
	}
	linear := normalizeBackward(u.normalized, u.deviation, normalized)
	input := make([]float64, len(u.input))
	affineBackward(weights.Layer(t, "linear.weight"), u.input, linear,
		into.Layer(t, "linear.weight"), into.Layer(t, "linear.bias"), input)
	return input
}

// normalize is layer norm without scale and shift: mean 0, variance 1 over the dimensions.
func normalize(x []float64) (normalized []float64, deviation float64) {
	mean, variance := 0.0, 0.0
	for _, value := range x {
		mean += value / float64(len(x))
	}
	for _, value := range x {
		variance += (value - mean) * (value - mean) / float64(len(x))
	}
	deviation = math.Sqrt(variance + epsilon)
	for _, value := range x {
		normalized = append(normalized, (value-mean)/deviation)
	}
	return normalized, deviation
}

// normalizeBackward returns the gradient of x from that of normalize(x).
func normalizeBackward(normalized []float64, deviation float64, gradient []float64) []float64 {
	mean, along := 0.0, 0.0
	for j := range gradient {
		mean += gradient[j] / float64(len(gradient))
		along += gradient[j] * normalized[j] / float64(len(gradient))
	}
	x := make([]float64, len(gradient))
	for j := range x {
		x[j] = (gradient[j] - mean - normalized[j]*along) / deviation
	}
	return x
}
