package names

import "testing"

func TestClosest(t *testing.T) {
	known := []string{"", "alpha", "Beta", "gamma", "betas", "müller", "alphabetical"}
	for name, want := range map[string]string{"beta": "Beta", "gama": "gamma", "mueller": "müller", "x": "", "ALPHAB": "alphabetical"} {
		if got := Closest(name, known, 2); len(got) != 2 || got[0] != want {
			t.Errorf("closest to %q are %q, want %q first", name, got, want)
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
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"Ä", "ä", 0}} {
		if got, _ := editDistance(folded(c.a), folded(c.b), nil); got != c.want {
			t.Errorf("from %q to %q are %d steps, want %d", c.a, c.b, got, c.want)
		}
	}
}
