package score

import (
	"bytes"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/scoring"
)

// TestPrintsEveryMetric prints metrics and intervals of which each has a value of its own.
func TestPrintsEveryMetric(t *testing.T) {
	t.Parallel()
	m := metrics.Evaluation{Sample: &metrics.Sample{Intervals: &metrics.Intervals{}}}
	value, names := 100., map[string]string{}
	next := func(name string) float64 {
		value++
		names[name] = strconv.FormatFloat(value, 'f', 1, 64)
		return value
	}
	for kind, of := range map[string]*metrics.Metrics{"pessimistic": &m.Pessimistic, "mean": &m.Mean, "optimistic": &m.Optimistic} {
		fields := reflect.ValueOf(of).Elem()
		for i := range fields.NumField() {
			fields.Field(i).SetFloat(next(kind + " " + fields.Type().Field(i).Name))
		}
	}
	intervals := reflect.ValueOf(m.Sample.Intervals).Elem()
	for i := range intervals.NumField() {
		name := intervals.Type().Field(i).Name
		intervals.Field(i).Set(reflect.ValueOf(metrics.Interval{Low: next("low " + name), High: next("high " + name)}))
	}
	var out bytes.Buffer
	a := &evaluating{Run: &scoring.Run{E: &command.Environment{Out: &out}}}
	a.print(m)
	for name, text := range names {
		if !strings.Contains(out.String(), " "+text) {
			t.Errorf("%s, %s, is not printed:\n%s", name, text, out.String())
		}
	}
}

func TestPrintsBaselines(t *testing.T) {
	t.Parallel()
	m := metrics.Evaluation{ByRelation: map[string]metrics.Summary{}, Baselines: &metrics.Baselines{}}
	m.Baselines.Popularity.Pessimistic = metrics.Metrics{MRR: .1, Hits10: .2}
	m.Baselines.Rules.Pessimistic = metrics.Metrics{MRR: .3, Hits10: .4}
	m.Baselines.Popularity.ByRelation = map[string]metrics.Ranks{}
	var out bytes.Buffer
	a := &evaluating{Run: &scoring.Run{E: &command.Environment{Out: &out}}}
	for n, want := range []string{"", "", "  below popularity on a, b\n", "", "  below popularity on a, b, c and 1 more\n"} {
		if n > 0 {
			name := string(rune('a' + n - 1))
			m.ByRelation[name] = metrics.Summary{Queries: 20}
			m.Baselines.Popularity.ByRelation[name] = metrics.Ranks{Pessimistic: metrics.Metrics{MRR: 1 / float64(n)}}
		}
		out.Reset()
		a.printBaselines(m)
		want = "  without a model: by popularity MRR 0.1000, Hits@10 0.2000; by rules of one hop MRR 0.3000, Hits@10 0.4000\n" + want
		if got := out.String(); n%2 == 0 && got != want {
			t.Errorf("%d relations: %q, want %q", n, got, want)
		}
	}
}
