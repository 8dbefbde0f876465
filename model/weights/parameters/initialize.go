package parameters

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"

	"tagnet/formats/workspace/safetensors"
	"tagnet/model/parallel"
)

// Initialize returns fresh weights in the given layout, drawn as in PyTorch's modules:
// linear maps and their biases uniform in ±1/√fan_in, embeddings and the degree
// vectors standard normal, layer norms one and zero.
//
// The values of a tensor depend on the seed and on its name alone, so that adding a layer or an option
// does not change the other tensors.
func Initialize(layout []Shape, seed uint64) *Set[float32] {
	s := NewSet[float32](layout)
	for _, t := range s.Tensors {
		draw := rand.New(source(seed, t.Name))
		switch bound := s.bound(t); {
		case strings.HasSuffix(t.Name, "layer_norm.weight"):
			fill(t.Data, func() float64 { return 1 })
		case strings.HasSuffix(t.Name, "layer_norm.bias"):
			// It is zero already.
		case bound > 0:
			fill(t.Data, func() float64 { return bound * (2*draw.Float64() - 1) })
		default:
			fill(t.Data, draw.NormFloat64)
		}
	}
	return s
}

// bound returns 1/√fan_in for a linear map's weight or bias, and 0 for every other tensor.
func (s *Set[F]) bound(t safetensors.Tensor[F]) float64 {
	module, _, _ := cutLast(t.Name, ".")
	_, kind, _ := cutLast(module, ".")
	switch kind {
	case "query", "relation", "layer_norm":
		return 0
	}
	weight, ok := s.byName[module+".weight"]
	if !ok {
		return 0
	}
	shape := s.Tensors[weight].Shape
	return 1 / math.Sqrt(float64(shape[len(shape)-1]))
}

// cutLast splits text at the last separator. Without one, before is the whole text.
func cutLast(text, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(text, separator); i >= 0 {
		return text[:i], text[i+len(separator):], true
	}
	return "", text, false
}

func fill[F Float](data []F, draw func() float64) {
	for i := range data {
		data[i] = F(draw())
	}
}

// source returns the random sequence of one tensor.
func source(seed uint64, name string) *rand.PCG {
	h := fnv.New64a()
	h.Write([]byte(name)) // a hash's Write never fails
	return rand.NewPCG(parallel.Mix(seed), parallel.Mix(seed^h.Sum64()))
}
