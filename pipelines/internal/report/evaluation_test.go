package report

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer/ranking"
)

// TestWholeTableHasEveryMetric shows metrics of which each has a value of its own, and a row with an interval for each that has one.
func TestWholeTableHasEveryMetric(t *testing.T) {
	t.Parallel()
	var v evaluation
	value, names := 100., map[string]string{}
	for kind, of := range map[string]*metrics.Metrics{"pessimistic": &v.Pessimistic, "mean": &v.Mean, "optimistic": &v.Optimistic} {
		fields := reflect.ValueOf(of).Elem()
		for i := range fields.NumField() {
			value++
			fields.Field(i).SetFloat(value)
			names[kind+" "+fields.Type().Field(i).Name] = strconv.FormatFloat(value, 'f', 1, 64)
		}
	}
	v.ranks = &ranks{whole: new(ranking.Bootstrap)}
	var weights ranking.Weights
	for i := range int64(50) {
		weights.Draw(1, i)
		v.ranks.whole.Add(&weights, 1+i%20)
	}
	shown, between := map[string]bool{}, map[string]bool{}
	for _, row := range v.wholeTable(false).Rows {
		for _, c := range row[1:] {
			shown[strings.TrimSuffix(c.Text, "00")] = true
		}
		if text := row[2].Text; strings.Contains(text, "–") && len(text) > len("–") {
			between[text] = true
		}
	}
	for name, text := range names {
		if !shown[text] {
			t.Errorf("%s, %s, is not in the table", name, text)
		}
	}
	if want := reflect.TypeFor[metrics.Intervals]().NumField(); len(between) != want {
		t.Errorf("%d intervals in the table, want %d: %v", len(between), want, between)
	}
}
