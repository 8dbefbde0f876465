package score

import (
	"flag"
	"path/filepath"
	"slices"
	"testing"

	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/parquet"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/predict"
	"tagnet/stages/stagetest"
)

// TestPlanCountsWhatIsRanked evaluates with each flag that selects queries, alone and with a sample: the manifest
// counts the queries of the plan, the metrics those that the stage read, and the sample is one of all that the
// other flags select.
func TestPlanCountsWhatIsRanked(t *testing.T) {
	w := scoringtest.Trained(t, "inductive")
	for folder, selecting := range map[string][]string{
		"test": {}, "valid": {"--split", "valid"}, "valid-and-test": {"--protocol", "valid-and-test"}, "grail": {"--protocol", "grail"},
	} {
		queries := func(want int64, more ...string) int64 {
			t.Helper()
			flags := slices.Concat([]string{"--workspace", w, "--top_k", "0", "--force"}, selecting, more)
			pipelinetest.Succeed(t, Pipeline(), flags...)
			planned, err := manifest.Read(t.Context(), filepath.Join(w, "runs/main/evaluation", folder))
			if err != nil {
				t.Fatal(err)
			}
			rows := stagetest.Rows[parquet.Ranking](t, filepath.Join(w, "runs/main/evaluation", folder, predict.RankingsTable))
			m := metricsOf(t, w, folder)
			if m.Queries == 0 || planned.Rows["queries"] != m.Queries || int64(len(rows)) != m.Queries || (m.Sample != nil) != (want > 0) {
				t.Errorf("%v: %d queries are planned, %d in metrics, with the sample %v, and %d ranked", flags, planned.Rows["queries"], m.Queries, m.Sample,
					len(rows))
			}
			if m.Sample != nil && m.Sample.Of != want {
				t.Errorf("%v: a sample of %d, want %d", flags, m.Sample.Of, want)
			}
			return m.Queries
		}
		if all, some := queries(0), int64(3); queries(all, "--limit", "3") != some {
			t.Errorf("%v: a sample has not %d queries", selecting, some)
		}
	}
}

// TestEveryFlagSelectsOrNot fails for a new flag of the command, which its list does not have.
func TestEveryFlagSelectsOrNot(t *testing.T) {
	others := flag.NewFlagSet("", flag.ContinueOnError)
	new(scoring.Flags).Register(others, "any")
	set := flag.NewFlagSet("", flag.ContinueOnError)
	Pipeline().Flags(set)
	set.VisitAll(func(f *flag.Flag) {
		if others.Lookup(f.Name) == nil && !slices.Contains([]string{"split", "protocol", "limit", "bundles"}, f.Name) {
			t.Errorf("--%s: add it to the list here; if it selects queries, to the cases of TestPlanCountsWhatIsRanked and TestBundles, too, unless "+
				"checkBundles "+
				"refuses it", f.Name)
		}
	})
}
