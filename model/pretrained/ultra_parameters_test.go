package pretrained_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"tagnet/formats/input/pytorch"
	"tagnet/formats/workspace/safetensors"
	"tagnet/model/pretrained"
	"tagnet/model/weightstest"

	"github.com/google/go-cmp/cmp"
)

func open(t *testing.T, tensors []safetensors.Tensor[float32]) *pytorch.File {
	t.Helper()
	file := weightstest.File(t, tensors)
	f, err := pytorch.Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestParameters(t *testing.T) {
	t.Parallel()
	want := weightstest.Drawn(1)
	numbers := 0
	for _, tensor := range want.Tensors {
		numbers += len(tensor.Data)
	}
	if len(want.Tensors) != 82 || numbers != 168705 {
		t.Fatalf("%d tensors of %d numbers, want 82 of 168705", len(want.Tensors), numbers)
	}
	got, err := pretrained.ULTRAParameters(open(t, want.Tensors))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Tensors, got.Tensors); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestRefusesOtherModels changes the tensors of a model that is read otherwise.
func TestRefusesOtherModels(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(tensors []safetensors.Tensor[float32]) []safetensors.Tensor[float32]
		want   string
	}{
		"no tensors": {func([]safetensors.Tensor[float32]) []safetensors.Tensor[float32] { return nil },
			"no ULTRA model: no tensor's name begins with relation_model. or entity_model. (it has no tensors)"},
		"another model": {func(tensors []safetensors.Tensor[float32]) []safetensors.Tensor[float32] {
			tensors[0].Name = "query.weight"
			return tensors[:1]
		}, `no ULTRA model: no tensor's name begins with relation_model. or entity_model. (the first is "query.weight")`},
		"a tensor less": {func(tensors []safetensors.Tensor[float32]) []safetensors.Tensor[float32] { return tensors[:81] },
			"it has no tensor entity_model.mlp.2.bias of shape [1]: only ULTRA models of 6 layers of 64 dimensions"},
		"a tensor more": {func(tensors []safetensors.Tensor[float32]) []safetensors.Tensor[float32] {
			return append(tensors, safetensors.Tensor[float32]{Name: "entity_model.layers.6.linear.bias", Shape: []int{1}, Data: []float32{1}})
		}, `it has a tensor "entity_model.layers.6.linear.bias", which ULTRA lacks`},
		"another shape": {func(tensors []safetensors.Tensor[float32]) []safetensors.Tensor[float32] {
			tensors[2].Shape = []int{128, 64}
			return tensors
		}, "tensor relation_model.layers.0.linear.weight has shape [128 64], want [64 128]"},
		"not a number": {func(tensors []safetensors.Tensor[float32]) []safetensors.Tensor[float32] {
			tensors[3].Data[7] = float32(math.NaN())
			return tensors
		}, `tensor "relation_model.layers.0.linear.bias" has a number that is not finite (NaN, the 8th)`},
	} {
		if _, err := pretrained.ULTRAParameters(open(t, c.change(weightstest.Drawn(1).Tensors))); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
