package metrics

import (
	"strings"
	"testing"

	"tagnet/formats/storage"
)

// TestForgedEvaluation reads metrics.json with numbers that no evaluation has.
func TestForgedEvaluation(t *testing.T) {
	t.Parallel()
	url := "mem://" + t.Name() + "/" + File
	for text, want := range map[string]string{
		`{"split": "test", "queries": 3, "pessimistic": {"mrr": 0.5, "mean_rank": 2}, "by_distance": {"unreached": {"queries": 1}}}`: "",
		`{"queries": -1}`:         "queries is -1",
		`{"tied": 1.5}`:           "tied is 1.5",
		`{"mean": {"hits@3": 2}}`: "mean.hits@3 is 2",
		`{"by_relation": {"likes": {"unreached": -4}}}`:        "by_relation.likes.unreached is -4",
		`{"calibration": {"true": 2, "candidates": 1}}`:        "calibration.true is 2",
		`{"calibration": {"after": {"bins": [{"mean": -1}]}}}`: "calibration.after.bins[0].mean is -1",
	} {
		if err := storage.WriteFile(t.Context(), url, []byte(text)); err != nil {
			t.Fatal(err)
		}
		_, err := storage.ReadJSON[Evaluation](t.Context(), url)
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), "reading "+url+": ") || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", text, err, want)
		}
	}
}

func TestBetter(t *testing.T) {
	t.Parallel()
	valid := func(mrr float64) *Valid { return &Valid{Queries: 1, Ranks: Ranks{Pessimistic: Metrics{MRR: mrr}}} }
	for _, c := range []struct {
		v, other *Valid
		want     bool
	}{{valid(0.3), nil, true}, {nil, nil, false}, {nil, valid(0.1), false}, {valid(0.3), valid(0.2), true}, {valid(0.2), valid(0.2), false}} {
		if got := c.v.Better(c.other); got != c.want {
			t.Errorf("%+v is better than %+v: %v", c.v, c.other, got)
		}
	}
}
