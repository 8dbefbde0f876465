package pretrained_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/safetensors"
	"tagnet/model/pretrained"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

func TestCheckpointOfRef(t *testing.T) {
	t.Parallel()
	for given, want := range map[string][2]string{
		"best": {"here", "best"}, "last": {"here", "last"}, "7": {"here", "epoch-007"}, "epoch-007": {"here", "epoch-007"},
		"epoch-007.safetensors": {"here", "epoch-007"}, "../w/checkpoints/epoch-012.json": {"../w/checkpoints", "epoch-012"},
		"gs://b/w/checkpoints/best": {"gs://b/w/checkpoints", "best"},
	} {
		if f, name := (pretrained.Ref{Folder: "here", Name: given}).Checkpoint(); string(f) != want[0] || name != want[1] {
			t.Errorf("%s is %s in %s, want %q", given, name, f, want)
		}
	}
	if f, name := (pretrained.Ref{Name: "best"}).Checkpoint(); f != "." || name != "best" {
		t.Errorf("best of no folder is %s in %q, want that of the current one", name, f)
	}
}

// TestCheckpointOverOtherRelations opens checkpoints in a folder, whole ones and others, over graphs
// with other relations.
func TestCheckpointOverOtherRelations(t *testing.T) {
	t.Parallel()
	f := checkpoint.Folder(storagetest.Memory(t))
	r := checkpoint.Record{
		FormatVersion: checkpoint.FormatVersion, Configuration: configuration.Default(), Epoch: 1, Step: 10,
		Vocabulary: checkpoint.Vocabulary{Relations: []string{"a", "b"}},
	}
	weights := parameters.Initialize(parameters.Layout(r.Configuration, 4), 1).Tensors
	open := func(name string) (*pretrained.Weights, error) {
		return pretrained.Ref{Folder: f, Name: name}.Open(t.Context())
	}
	save := func(weights []safetensors.Tensor[float32]) *pretrained.Weights {
		t.Helper()
		if err := f.Save(t.Context(), r, weights, nil); err != nil {
			t.Fatal(err)
		}
		w, err := open(r.Name())
		if err != nil {
			t.Fatal(err)
		}
		if w.Folder != f {
			t.Errorf("the folder is %q, want %q", w.Folder, f)
		}
		return w
	}
	whole := save(weights)
	if p, _, err := whole.Over([]string{"a", "b"}); err != nil || p.Tensors[0].Data[0] != weights[0].Data[0] {
		t.Fatal(err)
	}
	for _, c := range []struct {
		want, relations string // of a letter each
		unknown         []string
	}{
		{`does not know 1 of the graph's relations ("c"), and the graph lacks 1 of the model's ("b")`, "ac", []string{"c"}},
		{`does not know 1 of the graph's relations ("d")`, "abd", []string{"d"}},
		{`does not know 2 of the graph's relations ("x", "y"), and the graph lacks 2`, "xy", nil},
	} {
		relations := strings.Split(c.relations, "")
		_, _, err := whole.Over(relations)
		if !errors.Is(err, checkpoint.ErrMismatch) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("over %q: %v, want %s", relations, err, c.want)
		}
		if diff := cmp.Diff(c.unknown, whole.Unknown(relations)); diff != "" {
			t.Errorf("of %q unknown (-want +got):\n%s", relations, diff)
		}
	}
	for name, spoil := range map[string]func([]safetensors.Tensor[float32]) []safetensors.Tensor[float32]{
		"missing": func(w []safetensors.Tensor[float32]) []safetensors.Tensor[float32] { return w[1:] },
		"unknown": func(w []safetensors.Tensor[float32]) []safetensors.Tensor[float32] {
			return append(w, safetensors.Tensor[float32]{Name: "more", Shape: []int{1}, Data: []float32{1}})
		},
		"shape": func(w []safetensors.Tensor[float32]) []safetensors.Tensor[float32] {
			w[0].Shape = []int{len(w[0].Data) / 2, 2}
			return w
		},
	} {
		r.Epoch++
		r.Step++
		_, _, err := save(spoil(slices.Clone(weights))).Over([]string{"a", "b"})
		if err == nil || !strings.Contains(err.Error(), "tensor") || !strings.Contains(err.Error(), r.Name()) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := open("epoch-099"); err == nil || !strings.Contains(err.Error(), "epoch-001") {
		t.Errorf("an absent one: %v", err)
	}
}
