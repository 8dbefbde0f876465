package parameters

import (
	"math"
	"slices"
	"testing"

	"tagnet/formats/workspace/safetensors"
	"tagnet/model/weights/configuration"
)

func initialized(t *testing.T, change func(*configuration.Configuration), seed uint64) *Set[float32] {
	t.Helper()
	c := configuration.Default()
	c.DegreeMessages = true
	if change != nil {
		change(&c)
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	return Initialize(Layout(c, 40), seed)
}

func moments(data []float32) (mean, deviation, largest float64) {
	for _, v := range data {
		mean += float64(v)
		largest = max(largest, math.Abs(float64(v)))
	}
	mean /= float64(len(data))
	for _, v := range data {
		deviation += (float64(v) - mean) * (float64(v) - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(data))), largest
}

func TestInitializeDrawsAsPyTorchDoes(t *testing.T) {
	t.Parallel()
	s := initialized(t, nil, 7)
	for _, want := range []struct {
		name   string
		fanIn  float64 // 0: standard normal
		within float64
	}{
		{"layers.0.linear.weight", 13 * 32, .05},
		{"layers.0.linear.bias", 13 * 32, .5},
		{"layers.2.relation_linear.weight", 32, .05},
		{"layers.2.relation_linear.bias", 32, .1},
		{"mlp.0.weight", 64, .05},
		{"mlp.0.bias", 64, .4},
		{"mlp.2.weight", 64, .4},
		{"query.weight", 0, .1},
		{"layers.5.degree", 0, .5},
	} {
		mean, deviation, largest := moments(s.Data(want.name))
		expected := 1.0
		if want.fanIn > 0 {
			bound := 1 / math.Sqrt(want.fanIn)
			expected = bound / math.Sqrt(3)
			if !(largest <= bound) {
				t.Errorf("%s: %g is beyond ±%g", want.name, largest, bound)
			}
		}
		if !(math.Abs(mean) <= want.within*expected && math.Abs(deviation-expected) <= want.within*expected) {
			t.Errorf("%s: mean %g, deviation %g; want 0, %g", want.name, mean, deviation, expected)
		}
	}
	if mean, deviation, _ := moments(s.Data("layers.1.layer_norm.weight")); mean != 1 || deviation != 0 {
		t.Errorf("layer_norm.weight is not all ones: mean %g, deviation %g", mean, deviation)
	}
	if _, _, largest := moments(s.Data("layers.1.layer_norm.bias")); largest != 0 {
		t.Errorf("layer_norm.bias is not all zeros")
	}
}

func TestInitializeIndependentEmbeddingIsNormal(t *testing.T) {
	t.Parallel()
	s := initialized(t, func(c *configuration.Configuration) { c.Dependent = false }, 7)
	mean, deviation, largest := moments(s.Data("layers.3.relation.weight"))
	if !(math.Abs(mean) <= .1 && math.Abs(deviation-1) <= .1 && largest > 2) {
		t.Errorf("mean %g, deviation %g, largest %g: not standard normal", mean, deviation, largest)
	}
}

// TestInitializeRelationsFromAGraph holds that the rows of the edge types are embeddings, and the maps from states
// of relations linear.
func TestInitializeRelationsFromAGraph(t *testing.T) {
	t.Parallel()
	s := initialized(t, func(c *configuration.Configuration) {
		c.Relations, c.RelationLayers, c.DegreeMessages, c.Dim = configuration.RelationsGraph, 4, false, 128
	}, 7)
	for name, fanIn := range map[string]float64{
		"relation_model.layers.3.relation.weight": 0, "relation_model.layers.3.linear.weight": 256, "entity_model.layers.0.linear.weight": 13 * 128,
		"entity_model.layers.5.relation_projection.0.weight": 128, "entity_model.layers.5.relation_projection.2.bias": 128, "entity_model.mlp.0.weight": 256,
	} {
		mean, deviation, largest := moments(s.Data(name))
		want, bound := 1.0, 4.5
		if fanIn > 0 {
			bound = 1 / math.Sqrt(fanIn)
			want = bound / math.Sqrt(3)
		}
		if !(math.Abs(mean) <= .2*want && math.Abs(deviation-want) <= .2*want && largest <= bound) {
			t.Errorf("%s: mean %g, deviation %g, largest %g; want 0, %g, at most %g", name, mean, deviation, largest, want, bound)
		}
	}
	if _, deviation, largest := moments(s.Data("relation_model.layers.0.layer_norm.weight")); deviation != 0 || largest != 1 {
		t.Error("a layer norm of the relations does not begin with ones")
	}
}

func TestInitializeDependsOnSeedAndNameOnly(t *testing.T) {
	t.Parallel()
	whole := initialized(t, nil, 7)
	if !slices.EqualFunc(whole.Tensors, initialized(t, nil, 7).Tensors, func(a, b safetensors.Tensor[float32]) bool { return slices.Equal(a.Data, b.Data) }) {
		t.Error("the same seed gave other weights")
	}
	fewer := initialized(t, func(c *configuration.Configuration) { c.Layers, c.DegreeMessages = 3, false }, 7)
	for _, tensor := range fewer.Tensors {
		if !slices.Equal(tensor.Data, whole.Data(tensor.Name)) {
			t.Errorf("%s changed with the tensors beside it", tensor.Name)
		}
	}
	other := initialized(t, nil, 8)
	for _, name := range []string{"query.weight", "mlp.0.weight", "layers.0.linear.weight"} {
		if slices.Equal(whole.Data(name), other.Data(name)) {
			t.Errorf("%s is the same for another seed", name)
		}
	}
	if slices.Equal(whole.Data("layers.0.linear.weight"), whole.Data("layers.1.linear.weight")) {
		t.Error("two layers start with equal weights")
	}
}
