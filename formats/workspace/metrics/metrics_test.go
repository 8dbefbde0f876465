package metrics

import (
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
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
		`{"by_relation": {"likes": {"unreached": -4}}}`:                 "by_relation.likes.unreached is -4",
		`{"by_links": {"both": {"queries": -4}}}`:                       "by_links.both.queries is -4",
		`{"baselines": {"rules": {"by_links": {"both": {"tied": 2}}}}}`: "baselines.rules.by_links.both.tied is 2",
	} {
		if err := storage.WriteFile(t.Context(), url, []byte(text)); err != nil {
			t.Fatal(err)
		}
		_, err := storage.ReadJSON[Evaluation](t.Context(), url)
		if want == "" && err != nil || want != "" &&
			(err == nil || !strings.HasPrefix(err.Error(), "reading "+url+": ") || !strings.Contains(err.Error(), want)) {
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

func TestBelowPopularity(t *testing.T) {
	t.Parallel()
	e := Evaluation{ByRelation: map[string]Summary{}}
	popularity := map[string]Ranks{}
	ranks := func(mrr float64) Ranks { return Ranks{Pessimistic: Metrics{MRR: mrr}} }
	for name, c := range map[string]struct {
		queries        int64
		model, popular float64
	}{"near": {20, .35, .4}, "far": {20, .3, .9}, "above": {20, .3, .2}, "equal": {20, .3, .3}, "few": {19, .3, .9}, "also near": {900, 0, .1}} {
		e.ByRelation[name] = Summary{Queries: c.queries, Ranks: ranks(c.model)}
		popularity[name] = ranks(c.popular)
	}
	if got := e.BelowPopularity(); got != nil {
		t.Errorf("without baselines: %q", got)
	}
	e.Baselines = &Baselines{Popularity: Baseline{ByRelation: popularity}}
	if got, want := e.BelowPopularity(), []string{"far", "also near", "near"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestEveryMetric sets each field of Metrics alone: Plus adds it, Check names it, and the documentation of
// metrics.json has its key. Each metric but the mean rank, which has no upper bound, has an interval under the same
// key, which Check names, too.
func TestEveryMetric(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := regexp.MustCompile("(?m)^- `pessimistic`, .*").FindString(string(page))
	sampled := regexp.MustCompile("(?m)^- `sample`, .*").FindString(string(page))
	of, intervals := reflect.TypeFor[Metrics](), reflect.TypeFor[Intervals]()
	for i := range of.NumField() {
		name, key := of.Field(i).Name, of.Field(i).Tag.Get("json")
		t.Run(name, func(t *testing.T) {
			var m Metrics
			reflect.ValueOf(&m).Elem().Field(i).SetFloat(2)
			if sum := reflect.ValueOf(m.Plus(m, .25)).Field(i).Float(); sum != 2.5 {
				t.Errorf("Plus gives %g, want 2.5", sum)
			}
			reflect.ValueOf(&m).Elem().Field(i).SetFloat(math.NaN())
			if err := m.Check(); err == nil || !strings.HasPrefix(err.Error(), key+" is NaN") {
				t.Errorf("Check does not name %s: %v", key, err)
			}
			if !strings.Contains(documented, "`"+key+"`") {
				t.Errorf("formats/README.md does not have the key %q", key)
			}
			interval, has := intervals.FieldByName(name)
			if has == (name == "MeanRank") {
				t.Fatalf("has an interval: %v", has)
			}
			if !has {
				return
			}
			if got := interval.Tag.Get("json"); got != key {
				t.Errorf("the key of the interval is %q, want %q", got, key)
			}
			sample := Sample{Intervals: &Intervals{}}
			reflect.ValueOf(sample.Intervals).Elem().FieldByIndex(interval.Index).Set(reflect.ValueOf(Interval{Low: 2}))
			if err := sample.Check(); err == nil || !strings.HasPrefix(err.Error(), key+".low is 2") {
				t.Errorf("Check does not name the interval of %s: %v", key, err)
			}
			if !strings.Contains(sampled, "`"+key+"`") {
				t.Errorf("formats/README.md does not have the key %q of the intervals", key)
			}
		})
	}
	for i := range intervals.NumField() {
		if _, has := of.FieldByName(intervals.Field(i).Name); !has {
			t.Errorf("%s has an interval, and is no metric", intervals.Field(i).Name)
		}
	}
}

func TestDiscovery(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]Presumed{
		"":                                  {Missing: .05, Shares: map[string]float64{"r": 7}, Most: map[string]float64{"r": .1}, WithoutProbability: 3},
		"missing is 1.5":                    {Missing: 1.5},
		"unclaimed is 4":                    {WithoutProbability: 4},
		"missing_by_relation.b is -1, want": {Shares: map[string]float64{"a": 1, "b": -1, "c": -1}},
		"most_missing.r is -0.5":            {Most: map[string]float64{"r": -.5}},
	} {
		err := Discovery{Candidates: 3, Probabilities: &p}.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
