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

// TestIndex finds names that begin with a text (prefix), and names that contain it.
func TestIndex(t *testing.T) {
	t.Parallel()
	known := []string{
		"", "ANN", "Hannah", "Joan", "Joanna Eibe", "Zoë", "Zoe\u0308 2", "aspirin (oral)", "joe", "Ann", "ÄNNE", "Łódź", "Straße", "Sørensen", "Ærø", "Đặng",
		"<b>",
		"k", "\u212a",
	}
	slices.Sort(known)
	index := NewIndex(known)
	for _, test := range []struct {
		prefix bool
		text   string
		count  int
		want   []string
		more   bool
	}{
		{false, "ann", 9, []string{"ANN", "Ann", "ÄNNE", "Hannah", "Joanna Eibe"}, false},
		{false, "Ann", 3, []string{"Ann", "ANN", "ÄNNE"}, true},
		{false, "ann", 4, []string{"ANN", "Ann", "ÄNNE", "Hannah"}, true},
		{false, "OË", 9, []string{"Zoe\u0308 2", "Zoë", "joe"}, false},
		{false, "eibe", 9, []string{"Joanna Eibe"}, false},
		{false, "(ORAL", 9, []string{"aspirin (oral)"}, false},
		{false, "nnan", 9, nil, false},
		{false, "\xff", 9, nil, false},
		{false, "n\xffE", 9, nil, false},
		{false, "", 2, []string{"", "<b>"}, true},
		{false, "", 99, known, false},
		{false, "\u0308", 9, nil, false},
		{false, strings.Repeat("x", 200), 9, nil, false},
		{false, "rasse", 9, []string{"Straße"}, false},
		{false, "RENS", 9, []string{"Sørensen"}, false},
		{true, "joa", 9, []string{"Joan", "Joanna Eibe"}, false},
		{true, "Joan", 1, []string{"Joan"}, true},
		{true, "zoe\u0308", 9, []string{"Zoe\u0308 2", "Zoë"}, false},
		{true, "zoe", 9, []string{"Zoe\u0308 2", "Zoë"}, false},
		{true, "lodz", 9, []string{"Łódź"}, false},
		{true, "łó", 9, []string{"Łódź"}, false},
		{true, "strasse", 9, []string{"Straße"}, false},
		{true, "aero", 9, []string{"Ærø"}, false},
		{true, "dang", 9, []string{"Đặng"}, false},
		{true, "K", 9, []string{"k", "\u212a"}, false}, // the Kelvin sign is a K
		{true, "<", 9, []string{"<b>"}, false},
		{true, "nn", 9, nil, false},
		{true, "jo", 0, nil, true},
	} {
		find := index.Containing
		if test.prefix {
			find = index.WithPrefix
		}
		found, more := find(t.Context(), test.text, test.count)
		if diff := cmp.Diff(test.want, found, cmpopts.EquateEmpty()); diff != "" || more != test.more {
			t.Errorf("%q, prefix %v: more %v, want %v; (-want +got):\n%s", test.text, test.prefix, more, test.more, diff)
		}
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if found, _ := index.Containing(canceled, "nna", 9); len(found) == 2 {
		t.Error("a canceled search continues")
	}
	if found, more := NewIndex(nil).WithPrefix(t.Context(), "a", 3); len(found) > 0 || more {
		t.Errorf("no names: %q, %v", found, more)
	}
}

// TestContainingInManyNames compares what is found in several blocks, with names that are no UTF-8, with a
// search name by name.
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
		var want []string
		seen := map[string]bool{}
		sought := appendFolded(nil, text)
		for _, fits := range []func(name string) bool{
			func(name string) bool { return strings.HasPrefix(name, text) },
			func(name string) bool { return bytes.HasPrefix(appendFolded(nil, name), sought) },
			func(name string) bool { return bytes.Contains(appendFolded(nil, name), sought) },
		} {
			for _, name := range known {
				if !seen[name] && fits(name) {
					want, seen[name] = append(want, name), true
				}
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
