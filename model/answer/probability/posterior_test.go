package probability

import (
	"math"
	"testing"
)

// ofMultiple returns facts of which a part is true, whose probability is a multiple of the share, at most .99.
func ofMultiple(n, isTrue int, multiple, weight float64) (list []Judgment) {
	for i := range n {
		j := Judgment{True: i < isTrue, Weight: weight}
		for _, share := range Shares() {
			j.P = append(j.P, min(multiple*share, .99))
		}
		list = append(list, j)
	}
	return list
}

func TestPosteriorOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list             []Judgment
		share, low, high float64
	}{
		"a fifth":                {ofMultiple(100, 20, 1, 0), .2, .13, .29}, // as a beta distribution
		"drawn":                  {ofMultiple(100, 20, 1, 7), .2, .13, .29},
		"of twice the share":     {ofMultiple(100, 20, 2, 0), .1, .065, .145},
		"few":                    {ofMultiple(10, 2, 1, 0), .2, .024, .445},
		"none is true":           {ofMultiple(50, 0, 1, 0), .001, .001, .037},
		"all are":                {ofMultiple(50, 50, 1, 0), 1, .93, 1},
		"the surest, and others": {append(ofMultiple(50, 50, 9, 1./9), ofMultiple(50, 5, 1, 1)...), .11, .089, .185},
	} {
		got := PosteriorOf(c.list, nil)
		near := func(a, b float64) bool { return math.Abs(math.Log(a/b)) <= .12 }
		if !near(got.Share, c.share) || !near(got.Low, c.low) || !near(got.High, c.high) || got.Judged != len(c.list) {
			t.Errorf("%s: %+v, want %g between %g and %g", name, got, c.share, c.low, c.high)
		}
	}
	// A prior draws few judgments to it, and many not.
	prior := func(logarithm float64) float64 { z := (logarithm - math.Log(.05)) / .3; return -z * z / 2 }
	few, many := PosteriorOf(ofMultiple(10, 4, 1, 0), prior), PosteriorOf(ofMultiple(1000, 400, 1, 0), prior)
	if few.Share > .15 || many.Share < .35 {
		t.Errorf("with a prior at .05: %+v of 4 in 10, %+v of 400 in 1000", few, many)
	}
	if got := PosteriorOf(nil, nil); got.Low > .0013 || got.High < .8 {
		t.Errorf("of nothing: %+v", got)
	}
}
