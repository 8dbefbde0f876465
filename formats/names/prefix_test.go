package names

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestWithPrefix(t *testing.T) {
	t.Parallel()
	known := []string{"", "JOHN", "Joan", "Joan Eibe", "Jon", "joan", "joe", "josé", "joß", "Zoe", "Zoë", "zoé", "ÉCOLE", "école", "<b>", "K", "k", "\u212a"}
	slices.Sort(known)
	for _, test := range []struct {
		prefix string
		count  int
		want   []string
		more   bool
	}{
		{"joa", 9, []string{"joan", "Joan", "Joan Eibe"}, false},
		{"Joa", 9, []string{"Joan", "Joan Eibe", "joan"}, false},
		{"Joan", 2, []string{"Joan", "Joan Eibe"}, true},
		{"Joan E", 9, []string{"Joan Eibe"}, false},
		{"zoë", 9, []string{"Zoë"}, false},
		{"É", 9, []string{"ÉCOLE", "école"}, false},
		{"k", 9, []string{"k", "\u212a", "K"}, false}, // the Kelvin sign is a K
		{"<", 9, []string{"<b>"}, false},
		{"joan eibe!", 9, nil, false},
		{"ä", 9, nil, false},
		{"\xff", 9, nil, false},
		{"", 2, []string{"", "<b>"}, true},
		{"", 99, known, false},
		{"jo", 0, []string{}, true},
	} {
		found, more := WithPrefix(known, test.prefix, test.count)
		if diff := cmp.Diff(test.want, found); diff != "" || more != test.more {
			t.Errorf("%q: more %v, want %v; (-want +got):\n%s", test.prefix, more, test.more, diff)
		}
	}
	if found, more := WithPrefix(nil, "a", 3); len(found) > 0 || more {
		t.Errorf("no names: %q, %v", found, more)
	}
}

// TestWithPrefixFindsAll compares with a comparison of every name, for every prefix of some.
func TestWithPrefixFindsAll(t *testing.T) {
	t.Parallel()
	var known []string
	for i := range 3000 {
		word := fmt.Sprintf("%o", i*i)
		known = append(known, strings.Map(func(r rune) rune { return r - '0' + []rune("aAé")[(i+int(r))%3] }, word))
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, name := range known[:200] {
		for end := range name {
			prefix := name[:end]
			var want []string
			for _, k := range known {
				n := utf8.RuneCountInString(prefix)
				if letters := []rune(k); len(letters) >= n && strings.EqualFold(string(letters[:n]), prefix) {
					want = append(want, k)
				}
			}
			got, more := WithPrefix(known, prefix, len(known))
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" || more {
				t.Fatalf("%q: more %v (-want +got):\n%s", prefix, more, diff)
			}
		}
	}
}

// BenchmarkWithPrefix searches two million names.
func BenchmarkWithPrefix(b *testing.B) {
	known := make([]string, 2_000_000)
	for i := range known {
		known[i] = fmt.Sprintf("Entity number %07d", i)
	}
	for b.Loop() {
		WithPrefix(known, "ENTITY NUMBER 1234", 10)
	}
}
