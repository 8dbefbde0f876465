package spec

import (
	"fmt"
	"math"

	"tagnet/model/weights/parameters"
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
	return p.model.update(entityLayer(t), input, func(j int) float64 {
		if p.Query.Dropout == nil {
			return 1
		}
		return p.Query.Dropout(t, o, j)
	})
}

// entityLayer returns how the names of the parameters of layer t begin.
func entityLayer(t int) string { return fmt.Sprintf("layers.%d.", t-1) }

// update computes an update with the parameters whose names begin with layer. dropout returns the
// factor of a dimension.
func (m *Model) update(layer string, input []float64, dropout func(j int) float64) *nodeUpdate {
	weights := m.parameters
	u := &nodeUpdate{input: input}
	linear := affine(weights.Data(layer+"linear.weight"), weights.Data(layer+"linear.bias"), input)
	u.normalized, u.deviation = normalize(linear)
	scale, shift := weights.Data(layer+"layer_norm.weight"), weights.Data(layer+"layer_norm.bias")
	for j, value := range u.normalized {
		if scale != nil {
			value = value*scale[j] + shift[j]
		}
		factor := dropout(j)
		u.dropout = append(u.dropout, factor)
		u.added = append(u.added, factor*math.Max(value, 0))
	}
	return u
}

// updateBackward propagates the gradient of the change to the parameters whose names begin with layer and to the input,
// whose gradient it returns.
func (m *Model) updateBackward(layer string, u *nodeUpdate, added []float64, into *parameters.Set[float64]) []float64 {
	weights := m.parameters
	scale, shift := weights.Data(layer+"layer_norm.weight"), weights.Data(layer+"layer_norm.bias")
	gradientScale, gradientShift := into.Data(layer+"layer_norm.weight"), into.Data(layer+"layer_norm.bias")
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
	affineBackward(weights.Data(layer+"linear.weight"), u.input, linear,
		into.Data(layer+"linear.weight"), into.Data(layer+"linear.bias"), input)
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

// normalizeBackward returns the gradient of x, given the gradient of normalize(x).
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
