package checkpoint

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// TestOver gives relations of another order and number the blocks of their names, and leaves all else as it is.
func TestOver(t *testing.T) {
	t.Parallel()
	sources, _ := configuration.FieldNamed("relations")
	for _, source := range sources.Choices() {
		c := configuration.Default()
		c.Layers, c.Dim, c.Relations = 2, 4, source
		if c.Transfers() {
			continue
		}
		r := Record{Configuration: c, Vocabulary: Vocabulary{Relations: []string{"a", "b", "c"}}}
		trained := parameters.Initialize(parameters.Layout(c, 6), 1)
		set, unused, err := r.Over(trained.Tensors, []string{"c", "a"})
		if err != nil || !slices.Equal(unused, []string{"b"}) {
			t.Fatalf("unused %q, %v", unused, err)
		}
		for i, tensor := range set.Tensors {
			want := trained.Tensors[i].Data
			if len(tensor.Data) != len(want) {
				n := len(want) / 6 // c, a, ~c, ~a of a, b, c, ~a, ~b, ~c
				want = slices.Concat(want[2*n:3*n], want[:n], want[5*n:], want[3*n:4*n])
			}
			if diff := cmp.Diff(want, tensor.Data); diff != "" {
				t.Errorf("relations %s, %s (-want +got):\n%s", source, tensor.Name, diff)
			}
		}
	}
}

func TestOverUnknownRelations(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	r := Record{Configuration: c, Vocabulary: Vocabulary{Relations: []string{"a", "b"}}}
	_, _, err := r.Over(nil, []string{"x", "b", "y"})
	var unknown *UnknownRelationsError
	if !errors.As(err, &unknown) || !slices.Equal(unknown.Unknown, []string{"x", "y"}) || !slices.Equal(unknown.Unused, []string{"a"}) {
		t.Errorf("%+v, %v", unknown, err)
	}
}
