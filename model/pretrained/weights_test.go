package pretrained_test

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/pretrained"
	"tagnet/model/weights/configuration"
	"tagnet/model/weightstest"
)

// TestConfiguration checks that every hyperparameter of training is that of the training, and every
// other one the model's.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "drawn.pth")
	if err := os.WriteFile(file, weightstest.File(t, weightstest.Drawn(1).Tensors), 0o600); err != nil {
		t.Fatal(err)
	}
	weights, err := pretrained.Ref{Name: file}.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	texts := map[reflect.Kind]string{reflect.Int: "3", reflect.Float64: "0.25", reflect.Bool: "true", reflect.String: "made-up"}
	for _, f := range configuration.Fields() {
		c := pretrained.ULTRAConfiguration()
		text := texts[f.Kind()]
		if f.Of(c) == true {
			text = "false"
		}
		if err := f.Set(&c, text); err != nil {
			t.Fatal(err)
		}
		want := c
		if f.Group == configuration.Model {
			want = pretrained.ULTRAConfiguration()
		}
		if diff := cmp.Diff(want, weights.Configuration(c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
	}
}
