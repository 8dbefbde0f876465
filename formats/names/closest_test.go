package names

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestClosest(t *testing.T) {
	known := []string{"", "alpha", "Beta", "gamma", "betas", "müller", "alphabetical"}
	for name, want := range map[string]string{"beta": "Beta", "gama": "gamma", "mueller": "müller", "x": "", "ALPHAB": "alphabetical"} {
		if got := Closest(name, known, 2); len(got) != 2 || got[0] != want {
			t.Errorf("closest to %q are %q, want %q first", name, got, want)
		}
	}
	places := []string{"Berlin Mitte", "Köln", "Ostberlin", "_:berlim", "_:b12"}
	for name, want := range map[string][]string{"berlin": {"Berlin Mitte", "Ostberlin", "Köln"}, "OSTBERLI": {"Ostberlin"}, "kol": {"Köln"},
		"_:b1": {"_:b12"}} {
		if got := Closest(name, places, len(want)); !slices.Equal(got, want) {
			t.Errorf("closest to %q are %q, want %q", name, got, want)
		}
	}
	accents := []string{"Zoe", "Zoe\u0308", "Zoë", "Straße", "Strasse", "zoe"}
	for name, want := range map[string]string{"zoe": "zoe", "Zoë": "Zoe\u0308", "ZOE": "Zoe", "STRASSE": "Strasse", "Straßes": "Straße",
		"Zoe\u0308": "Zoe\u0308"} {
		if got := Closest(name, accents, 1); got[0] != want {
			t.Errorf("closest to %q is %q, want %q", name, got[0], want)
		}
	}
	for name, want := range map[string]string{"gama": "gamma", "alphab": "alphabetical", "bteas": "betas", "delta": "", "x": ""} {
		if got, ok := Like(name, known[1:]); ok != (want != "") || ok && got != want {
			t.Errorf("like %q is %q, %v, want %q", name, got, ok, want)
		}
	}
	if got, ok := Like("beta", nil); ok {
		t.Errorf("of no names %q is like another", got)
	}
}

// plainDistance is the Levenshtein distance by its definition.
func plainDistance(a, b []rune) int {
	if len(a) == 0 || len(b) == 0 {
		return len(a) + len(b)
	}
	replaced := plainDistance(a[1:], b[1:])
	if a[0] != b[0] {
		replaced++
	}
	return min(replaced, 1+plainDistance(a[1:], b), 1+plainDistance(a, b[1:]))
}

// TestEditDistance compares the distance within any bound with that of the definition.
func TestEditDistance(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	word := func() []rune {
		letters := make([]rune, random.IntN(6))
		for i := range letters {
			letters[i] = 'a' + random.Int32N(3)
		}
		return letters
	}
	var row []int
	for range 500 {
		a, b := word(), word()
		want := plainDistance(a, b)
		for most := range 8 {
			var got int
			if got, row = editDistance(a, b, most, row); got != min(want, most+1) {
				t.Fatalf("from %q to %q are %d steps within %d, want %d", string(a), string(b), got, most, min(want, most+1))
			}
		}
	}
}

// TestClosestIsThatOfAllNames compares the names with those that have the least distance of all.
func TestClosestIsThatOfAllNames(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(2, 2))
	var known []string
	for range 300 {
		name := make([]byte, 1+random.IntN(40))
		for i := range name {
			name[i] = "aAbcäö"[random.IntN(6)]
		}
		known = append(known, strings.ToValidUTF8(string(name), "ü"))
	}
	for range 200 {
		name := known[random.IntN(len(known))]
		name = name[:random.IntN(len(name)+1)] + "c"
		sorted := slices.Clone(known)
		key := func(n string) (rest, distance int) {
			sought, letters := folded(nil, name, comparedLetters), folded(nil, n, comparedLetters)
			if len(letters) < len(sought) || !slices.Equal(letters[:len(sought)], sought) {
				rest = 2
			}
			if rest > 0 && len(sought) >= 3 && strings.Contains(string(letters), string(sought)) {
				rest = 1
			}
			distance, _ = editDistance(sought, letters, 1000, nil)
			return rest, min(distance, longestDistance+1)
		}
		slices.SortStableFunc(sorted, func(a, b string) int {
			aRest, aDistance := key(a)
			bRest, bDistance := key(b)
			x, y := candidate{rest: aRest, distance: aDistance}, candidate{rest: bRest, distance: bDistance}
			if aDistance == 0 && bDistance == 0 {
				x.spelling, y.spelling = spelling(name, a), spelling(name, b)
			}
			return x.compare(y)
		})
		if diff := cmp.Diff(sorted[:4], Closest(name, known, 4)); diff != "" {
			t.Fatalf("closest to %q (-all +found):\n%s", name, diff)
		}
	}
}

// TestClosestIsBounded searches for names of 1 MB, among such and among many.
func TestClosestIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a fox jumps ", 100_000)
	known := []string{long + "x", long, "short"}
	for i := range 100_000 {
		known = append(known, fmt.Sprintf("http://example.org/resource/%x", i*7919))
	}
	for _, name := range []string{long, long[1:], strings.Repeat("\xff", 1<<20), "http://example.org/resource/" + long} {
		begun := time.Now()
		if got := Closest(name, known, 3); len(got) != 3 {
			t.Errorf("%d names", len(got))
		}
		if took := time.Since(begun); took > 5*time.Second {
			t.Errorf("%.20q...: %v", name, took)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got := ClosestContext(ended, long, known, len(known)); len(got) > 2*4096*runtime.GOMAXPROCS(0) {
		t.Errorf("after an interrupt %d names were compared", len(got))
	}
}

func BenchmarkClosest(b *testing.B) {
	var known []string
	for i := range 1_000_000 {
		known = append(known, fmt.Sprintf("http://example.org/resource/%x", i*7919))
	}
	for _, name := range []string{"http://example.org/resource/12345z", "Joan Eibe", strings.Repeat("http://example.org", 1000)} {
		b.Run(name[:9], func(b *testing.B) {
			for b.Loop() {
				Closest(name, known, 3)
			}
		})
	}
}
