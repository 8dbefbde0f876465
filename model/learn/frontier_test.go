package learn

import "testing"

// TestFrontier reads the table: points are in order, and every graph has a choice that starts with weights of its own.
func TestFrontier(t *testing.T) {
	t.Parallel()
	f := Measured()
	if len(f) < 2 {
		t.Fatalf("%d graphs", len(f))
	}
	for _, s := range f {
		if s.Facts <= 0 || s.Entities <= 0 || s.Relations <= 0 || s.Answers < 1 {
			t.Errorf("%s: traits %+v", s.Name, s.Traits)
		}
		for choice, curve := range s.Curves {
			for i, p := range curve {
				if p.MRR <= 0 || p.MRR > 1 {
					t.Errorf("%s, %s: MRR %g", s.Name, choice, p.MRR)
				}
				if i > 0 && p.Queries <= curve[i-1].Queries {
					t.Errorf("%s, %s: %g queries after %g", s.Name, choice, p.Queries, curve[i-1].Queries)
				}
			}
		}
		if got := f.Nearest(s.Traits, 1); got[0] != s.Name {
			t.Errorf("%s is most like %s", s.Name, got[0])
		}
	}
}

// TestExpect interpolates between points, and takes the graphs that are like one.
func TestExpect(t *testing.T) {
	t.Parallel()
	small, large := Traits{1000, 100, 10, 2}, Traits{1e6, 1e5, 500, 2}
	f := Frontier{
		{"small", small, map[string][]Point{"a": {{100, .5}, {10_000, 1}}, "b": {{0, .6}, {10_000, .7}}, "--from w": {{0, .3}}, "d": {{100, .9}}}},
		{"large", large, map[string][]Point{"a": {{100, .1}, {10_000, .2}}, "b": {{0, .3}, {10_000, .4}}}},
	}
	for name, c := range map[string]struct {
		of      Traits
		choice  string
		queries int64
		want    float64
	}{
		"a point": {small, "a", 100, .5}, "between": {small, "a", 1000, .749}, "before all": {small, "a", 9, .2495}, "after all": {small, "a", 1e9, 1},
		"untrained": {small, "b", 0, .6}, "another graph": {large, "a", 10_000, .5}, "relative to the best": {large, "b", 10_000, 1},
		"unknown":            {small, "c", 10, 0},
		"measured elsewhere": {large, "d", 100, 0}, "weights that were measured elsewhere": {large, "--from w", 100, .3},
	} {
		if got := f.Expect(c.of, c.choice, c.queries); !(got-c.want <= .002 && c.want-got <= .002) {
			t.Errorf("%s: %.4f, want %.4f", name, got, c.want)
		}
	}
	if got := f.Choices(); len(got) != 4 || got[1] != "a" {
		t.Errorf("choices %q", got)
	}
}
