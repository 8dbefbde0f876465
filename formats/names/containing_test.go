package names

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestContaining(t *testing.T) {
	t.Parallel()
	known := []string{"", "ANN", "Hannah", "Joan", "Joanna Eibe", "Zoë", "aspirin (oral)", "joe", "Ann", "ÄNNE"}
	slices.Sort(known)
	for _, test := range []struct {
		text  string
		count int
		want  []string
		more  bool
	}{
		{"ann", 9, []string{"Ann", "ANN", "Hannah", "Joanna Eibe"}, false},
		{"Ann", 3, []string{"Ann", "ANN", "Hannah"}, true},
		{"ann", 4, []string{"Ann", "ANN", "Hannah", "Joanna Eibe"}, false},
		{"änne", 9, []string{"ÄNNE"}, false},
		{"OË", 9, []string{"Zoë"}, false},
		{"eibe", 9, []string{"Joanna Eibe"}, false},
		{"(ORAL", 9, []string{"aspirin (oral)"}, false},
		{"nnan", 9, nil, false},
		{"\xff", 9, nil, false},
		{"", 2, []string{"", "ANN"}, true},
		{"", 99, known, false},
		{strings.Repeat("x", 200), 9, nil, false},
	} {
		found, more := Containing(t.Context(), known, test.text, test.count)
		if diff := cmp.Diff(test.want, found, cmpopts.EquateEmpty()); diff != "" || more != test.more {
			t.Errorf("%q: more %v, want %v; (-want +got):\n%s", test.text, more, test.more, diff)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if found, _ := Containing(canceled, known, "nna", 9); len(found) == 2 {
		t.Error("a canceled search continues")
	}
}

// BenchmarkContaining searches a million names.
func BenchmarkContaining(b *testing.B) {
	known := make([]string, 1_000_000)
	for i := range known {
		known[i] = fmt.Sprintf("Entity number %07d", i)
	}
	for _, text := range []string{"number 00", "1234", "NUMBER 99999", "nobody", "umber number"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				Containing(b.Context(), known, text, 12)
			}
		})
	}
}
