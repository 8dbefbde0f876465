package answer

import (
	"slices"
	"strings"
	"testing"

	"tagnet/model/answer/probability"
)

// TestContradict has verdicts on likely and unlikely facts, which agree with their probabilities or not.
func TestContradict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		p         float64
		n, isTrue int
		want      bool
	}{
		"agree": {.9, 20, 17, false}, "few": {.9, 9, 0, false}, "said .9, 3 of 20": {.9, 20, 3, true}, "unlikely": {.4, 20, 20, false},
		"said .6, all": {.6, 40, 40, true},
	} {
		var all []probability.Judgment
		for i := range c.n {
			all = append(all, probability.Judgment{True: i < c.isTrue, P: slices.Repeat([]float64{c.p}, len(probability.Shares()))})
		}
		told := Told{Common: probability.Posterior{Share: probability.Shares()[7], Judged: c.n}}
		told.contradict(all)
		if got := told.Sure == c.n && told.True == c.isTrue; got != c.want {
			t.Errorf("%s: %+v", name, told)
		}
		if says := strings.Contains(strings.Join(told.Lines(nil), " "), "contradict"); says != c.want {
			t.Errorf("%s: lines %q", name, told.Lines(nil))
		}
	}
}
