package names

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
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
	index := NewIndex(known)
	for _, test := range []struct {
		text  string
		count int
		want  []string
		more  bool
	}{
		{"ann", 9, []string{"Ann", "ANN", "Hannah", "Joanna Eibe", "ÄNNE"}, false},
		{"Ann", 3, []string{"Ann", "ANN", "Hannah"}, true},
		{"ann", 4, []string{"Ann", "ANN", "Hannah", "Joanna Eibe"}, true},
		{"änne", 9, []string{"ÄNNE"}, false},
		{"anne", 9, []string{"ÄNNE"}, false},
		{"zoe", 9, []string{"Zoë"}, false},
		{"OË", 9, []string{"Zoë", "joe"}, false},
		{"eibe", 9, []string{"Joanna Eibe"}, false},
		{"(ORAL", 9, []string{"aspirin (oral)"}, false},
		{"nnan", 9, nil, false},
		{"\xff", 9, nil, false},
		{"n\xffE", 9, nil, false},
		{"", 2, []string{"", "ANN"}, true},
		{"", 99, known, false},
		{strings.Repeat("x", 200), 9, nil, false},
	} {
		found, more := index.Containing(t.Context(), test.text, test.count)
		if diff := cmp.Diff(test.want, found, cmpopts.EquateEmpty()); diff != "" || more != test.more {
			t.Errorf("%q: more %v, want %v; (-want +got):\n%s", test.text, more, test.more, diff)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if found, _ := index.Containing(canceled, "nna", 9); len(found) == 2 {
		t.Error("a canceled search continues")
	}
}

// TestContainingInManyNames compares what is found in several blocks, with names that are no UTF-8, with a search name by name.
func TestContainingInManyNames(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 3))
	known := []string{strings.Repeat("x", 3*blockNames)}
	for range 3*blockNames + 5 {
		name := make([]byte, random.IntN(12))
		for i := range name {
			name[i] = "abAB\xc3\x84\xa4\xff"[random.IntN(8)] // with letters such as \u00e4, and halves of them
		}
		known = append(known, string(name))
	}
	slices.Sort(known)
	known = slices.Compact(known)
	index := NewIndex(known)
	for _, text := range []string{"ab", "BABA", "\u00e4", "\u00c4A", "\xff\xff", "\u00e4b\u00e4b", "x", strings.Repeat("X", 200), "abababab"} {
		want, _ := WithPrefix(known, text, len(known))
		begin := len(want)
		for _, name := range known {
			if !slices.Contains(want[:begin], name) && bytes.Contains(appendFolded(nil, name), appendFolded(nil, text)) {
				want = append(want, name)
			}
		}
		for _, count := range []int{1, 12, 100, len(known)} {
			found, more := index.Containing(t.Context(), text, count)
			if diff := cmp.Diff(want[:min(count, len(want))], found, cmpopts.EquateEmpty()); diff != "" || more != (len(want) > count) {
				t.Errorf("%q: more %v of %d; (-want +got):\n%s", text, more, len(want), diff)
			}
		}
	}
}

// millions returns five million names.
func millions() []string {
	known := make([]string, 5_000_000)
	for i := range known {
		known[i] = fmt.Sprintf("Entity number %07d", i)
	}
	return known
}

// BenchmarkContaining searches five million names.
func BenchmarkContaining(b *testing.B) {
	index := NewIndex(millions())
	for _, text := range []string{"entity", "number 00", "1234", "NUMBER 4999999", "nobody", "umber number"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				index.Containing(b.Context(), text, 12)
			}
		})
	}
}

func BenchmarkNewIndex(b *testing.B) {
	known := millions()
	for b.Loop() {
		NewIndex(known)
	}
}
