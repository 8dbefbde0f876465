package score

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer/ranking"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/predict"
	"tagnet/stages/stagetest"
)

// TestLimit compares a sample with the queries of the whole split that it takes, whose ranks are the same, and its
// intervals with a bootstrap of these.
func TestLimit(t *testing.T) {
	w := scoringtest.Trained(t, "chain")
	score := func(flags ...string) (string, metrics.Evaluation, []parquet.Ranking) {
		t.Helper()
		out := pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", w, "--top_k", "0"}, flags...)...)
		return out, metricsOf(t, w, "test"), stagetest.Rows[parquet.Ranking](t, filepath.Join(w, "runs/main/evaluation/test", predict.RankingsTable))
	}
	out, all, ranks := score()
	if all.Sample != nil || strings.Contains(out, "95%") {
		t.Errorf("all queries are called a sample of %+v:\n%s", all.Sample, out)
	}
	const limit = 12
	if len(ranks) < 2*limit {
		t.Fatalf("the split has only %d queries", len(ranks))
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--top_k", "0", "--limit", "12"); code != 1 ||
		!strings.Contains(stderr, "limit is absent there, 12 here") {
		t.Errorf("a sample over all queries: exit code %d, %s", code, stderr)
	}
	out, some, taken := score("--limit", "12", "--force")
	var want []parquet.Ranking
	var bootstrap ranking.Bootstrap
	for i := range limit {
		row := ranks[(i*len(ranks)+limit-1)/limit]
		want = append(want, row)
		var weights ranking.Weights
		weights.Draw(0, row.Query)
		bootstrap.Add(&weights, row.RankPessimistic)
	}
	if !slices.Equal(taken, want) {
		t.Errorf("the sample is\n%+v, want\n%+v", taken, want)
	}
	if some.Queries != limit || some.Sample == nil || some.Sample.Of != int64(len(ranks)) || some.Sample.Intervals == nil {
		t.Fatalf("%d queries, a sample %+v of %d", some.Queries, some.Sample, len(ranks))
	}
	intervals := bootstrap.Intervals()
	if *some.Sample.Intervals != *intervals {
		t.Errorf("the intervals are %+v, want %+v", some.Sample.Intervals, intervals)
	}
	if intervals.MRR.Excludes(some.Pessimistic.MRR) {
		t.Errorf("the interval of the MRR, %g, is %v", some.Pessimistic.MRR, intervals.MRR)
	}
	if !strings.Contains(out, "12 of "+fmt.Sprint(len(ranks))+" queries") || !strings.Contains(out, "95% interval") {
		t.Errorf("the output is\n%s", out)
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--top_k", "0"); code != 1 ||
		!strings.Contains(stderr, "limit is 12 there, absent here") {
		t.Errorf("all queries over a sample: exit code %d, %s", code, stderr)
	}
	if _, m, _ := score("--force", "--limit", "1000000"); m.Sample != nil || m.Summary != all.Summary {
		t.Errorf("a limit above all queries: %+v, want %+v", m, all)
	}
}

// TestReach scores a model with a reach that covers all, which changes no metric, and with one that
// covers the source alone.
func TestReach(t *testing.T) {
	w := scoringtest.Trained(t, "chain")
	score := func(flags ...string) metrics.Evaluation {
		t.Helper()
		pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", w, "--top_k", "0"}, flags...)...)
		return metricsOf(t, w, "test")
	}
	all := score()
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--top_k", "0", "--reach", "100000"); code != 1 ||
		!strings.Contains(stderr, "reach is absent there, 100000 here") {
		t.Errorf("a reach over an evaluation without one: exit code %d, %s", code, stderr)
	}
	if m := score("--reach", "100000", "--force"); m.Summary != all.Summary || m.Messages != all.Messages {
		t.Errorf("a reach of all entities: %+v, want %+v", m.Summary, all.Summary)
	}
	if m := score("--reach", "1", "--force"); m.Messages >= all.Messages/2 || m.Pessimistic.MRR >= all.Pessimistic.MRR {
		t.Errorf("a reach of the source: %d messages, MRR %g; want less than half of %d, and less than %g", m.Messages, m.Pessimistic.MRR, all.Messages,
			all.Pessimistic.MRR)
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--reach", "-2"); code != 2 ||
		!strings.Contains(stderr, "--reach is -2: want -1 or more") {
		t.Errorf("reach -2: exit code %d, %s", code, stderr)
	}
}
