package parameters

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
)

// Initialize returns fresh weights in the given layout, drawn as PyTorch's modules draw
// theirs: linear maps and their biases uniform in ±1/√fan_in, embeddings and the degree
// vectors standard normal, layer norms one and zero.
//
// What a tensor receives depends on the seed and on its name alone, so that a layer, an
// option or a tensor more leaves all others as they were.
func Initialize(layout []Shape, seed uint64) *Set[float32] {
	s := NewSet[float32](layout)
	for _, t := range s.Tensors {
		random := rand.New(source(seed, t.Name))
		switch bound := s.bound(t); {
		case strings.HasSuffix(t.Name, "layer_norm.weight"):
			fill(t.Data, func() float64 { return 1 })
		case strings.HasSuffix(t.Name, "layer_norm.bias"):
			// Zero as it is.
		case bound > 0:
			fill(t.Data, func() float64 { return bound * (2*random.Float64() - 1) })
		default:
			fill(t.Data, random.NormFloat64)
		}
	}
	return s
}

// bound is 1/√fan_in for a linear map's weight or bias, and 0 for every other tensor.
func (s *Set[F]) bound(t Tensor[F]) float64 {
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

// cutLast splits at the last separator; without one, all of it is the last part.
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

// source is the random sequence of one tensor.
func source(seed uint64, name string) *rand.PCG {
	h := fnv.New64a()
	h.Write([]byte(name)) // a hash's Write never fails
	return rand.NewPCG(scramble(seed), scramble(seed^h.Sum64()))
}

// scramble is splitmix64's output function: seeds that differ in one bit end far apart.
func scramble(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
