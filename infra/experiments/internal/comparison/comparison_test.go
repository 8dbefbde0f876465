package comparison

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/results"
	"tagnet/model/study/chart"
)

// trained returns a result with a metric's value at each epoch, the last of which is the test metric.
func trained(dataset, experiment string, varied map[string]string, seed int64, delta int, curve ...float64) results.Result {
	r := results.Result{Dataset: dataset, Experiment: experiment, Varied: varied, Seed: seed, Configuration: json.RawMessage(fmt.Sprintf(`{"delta":%d,"policy":"window"}`, delta))}
	var m metrics.Metrics
	for i, value := range curve {
		e := results.Epoch{Epoch: i + 1}
		if value > 0 {
			m = metrics.Metrics{MRR: value}
			e.Valid = &m
		}
		r.Training.Curve = append(r.Training.Curve, e)
	}
	r.Training.CPUSeconds = float64(seed)
	r.Evaluation = map[string]results.Evaluation{results.TestProtocol: {Ranks: metrics.Ranks{Pessimistic: m}, Messages: int64(delta + 1), NBFNetMessages: 10}}
	return r
}

func deltaIs(value string) map[string]string { return map[string]string{"delta": value} }

func TestGroups(t *testing.T) {
	t.Parallel()
	groups := Groups([]results.Result{
		trained("b", "fixed", deltaIs("10"), 1, 10, 0.5), trained("b", "fixed", deltaIs("9"), 1, 9, 0.5), trained("b", "fixed", nil, 2, 3, 0.6),
		trained("b", "fixed", nil, 1, 3, 0.4), trained("a", "full", nil, 1, 3, 0.4),
	})
	var got []string
	for _, g := range groups {
		got = append(got, fmt.Sprintf("%s (%s) %d", g.Key(), g.Name(), len(g.Results)))
	}
	want := []string{"a/full (full) 1", "b/fixed (fixed) 2", "b/fixed-delta-9 (fixed, delta 9) 1", "b/fixed-delta-10 (fixed, delta 10) 1"}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if seed := groups[1].Results[0].Seed; seed != 1 {
		t.Errorf("the first of the group has seed %d", seed)
	}
	if v, ok := groups[1].Number("delta"); !ok || v != 3 {
		t.Errorf("delta of the configuration is %v, %v", v, ok)
	}
	if _, ok := groups[1].Number("policy"); ok {
		t.Error("a policy is a number")
	}
}

func TestSpread(t *testing.T) {
	t.Parallel()
	g := Groups([]results.Result{trained("a", "fixed", nil, 1, 3, 0.4), trained("a", "fixed", nil, 2, 3, 0.6), trained("a", "fixed", nil, 3, 3, 0.8)})[0]
	s := g.Metric(results.TestProtocol, MRR)
	if s.N != 3 || !(math.Abs(s.Mean-0.6) < 1e-12) || !(math.Abs(s.Deviation-0.2) < 1e-12) || !(math.Abs(s.Error()-0.2/math.Sqrt(3)) < 1e-12) {
		t.Errorf("the spread is %+v, its error %v", s, s.Error())
	}
	if sent := g.Sent(results.TestProtocol); !(math.Abs(sent.Mean-0.4) < 1e-12) || !(math.Abs(sent.Deviation) < 1e-12) {
		t.Errorf("sent %+v", sent)
	}
	for want, s := range map[string]Spread{"0.60 ± 0.20": s, "0.40": SpreadOf([]float64{0.4}), "–": g.Metric("another", MRR)} {
		if got := s.Plus("%.2f"); got != want {
			t.Errorf("written %q, want %q", got, want)
		}
	}
}

// TestCurves checks that a point is the mean of all seeds, and that an epoch without the validation of one has none.
func TestCurves(t *testing.T) {
	t.Parallel()
	groups := Groups([]results.Result{trained("a", "fixed", nil, 1, 3, 0.2, 0, 0.4), trained("a", "fixed", nil, 2, 3, 0.4, 0.5, 0.6), trained("a", "full", nil, 1, 3, 0.5)})
	c := Curves(groups, Group.Name)
	if len(c.Series) != 2 || c.Series[0].Name != "fixed" || len(c.Series[0].Points) != 2 || len(c.Series[1].Points) != 1 {
		t.Fatalf("series %+v", c.Series)
	}
	near(t, c.Series[0].Points[1], chart.Point{X: 3, Y: 0.5})
	if d := c.Series[0].Spread[0]; !(math.Abs(d-math.Sqrt(0.02)) < 1e-12) {
		t.Errorf("the deviation is %v", d)
	}
	if !strings.Contains(c.SVG("curves", ""), "spread s0") {
		t.Error("no bar is drawn")
	}
}

func near(t *testing.T, got, want chart.Point) {
	t.Helper()
	if !(math.Abs(got.X-want.X) < 1e-12) || !(math.Abs(got.Y-want.Y) < 1e-12) {
		t.Errorf("the point is %v, want %v", got, want)
	}
}

func TestFiguresOfLines(t *testing.T) {
	t.Parallel()
	lines := []Line{{"fixed", Groups([]results.Result{
		trained("a", "fixed", deltaIs("0"), 1, 0, 0.1), trained("a", "fixed", nil, 1, 3, 0.3), trained("a", "fixed", deltaIs("5"), 1, 5, 0.5),
	})}}
	points := func(c chart.Lines) []chart.Point {
		slices.SortFunc(c.Series[0].Points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
		return c.Series[0].Points
	}
	byValue := ByValue("delta", results.TestProtocol, MRR, lines)
	if !byValue.X.Whole || len(byValue.Series[0].Points) != 3 {
		t.Fatalf("by value: %+v", byValue)
	}
	near(t, points(byValue)[1], chart.Point{X: 3, Y: 0.3})
	near(t, points(AgainstMessages(results.TestProtocol, MRR, lines))[2], chart.Point{X: 0.6, Y: 0.5})
}

func TestByExperiment(t *testing.T) {
	t.Parallel()
	other := trained("a", "other", nil, 1, 1, 0.1)
	other.Evaluation = nil
	lines := ByExperiment(Groups([]results.Result{
		trained("a", "full", nil, 1, 9, 0.3), trained("a", "fixed", deltaIs("0"), 1, 0, 0.1), trained("a", "fixed", deltaIs("5"), 1, 5, 0.5), trained("a", "fixed", nil, 1, 3, 0.3), other,
		trained("a", "fixed", map[string]string{"epochs": "5"}, 1, 3, 0.2), trained("a", "fixed", map[string]string{"delta": "0", "epochs": "5"}, 1, 0, 0.1),
	}), results.TestProtocol)
	var got []string
	for _, l := range lines {
		for _, g := range l.Groups {
			got = append(got, l.Name+": "+g.Key())
		}
	}
	want := []string{
		"fixed: a/fixed-delta-0", "fixed: a/fixed", "fixed: a/fixed-delta-5",
		"fixed, epochs 5: a/fixed-delta-0-epochs-5", "fixed, epochs 5: a/fixed-epochs-5", "full: a/full",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSpreadOf(t *testing.T) {
	t.Parallel()
	if s := SpreadOf([]float64{1, 2, 3}); s.Mean != 2 || s.Deviation != 1 {
		t.Errorf("%v ± %v", s.Mean, s.Deviation)
	}
	if s := SpreadOf([]float64{4}); s.Mean != 4 || !math.IsNaN(s.Deviation) {
		t.Errorf("%v ± %v", s.Mean, s.Deviation)
	}
}
