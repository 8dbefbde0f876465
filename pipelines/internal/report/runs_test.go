package report

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
)

// addRun writes a run with a configuration of its own and the given ranks of the test split.
func addRun(t *testing.T, w workspace.Workspace, change func(*configuration.Configuration), rows []parquet.Ranking) {
	t.Helper()
	f := fixture{t, w, 3, len(rows)}
	c := configuration.Default()
	change(&c)
	f.writeText(w.InRun("checkpoints/best"), "epoch-001\n")
	f.record(checkpoint.Record{Configuration: c, Seed: 1, Epoch: 1})
	f.writeText(w.InRun("training.jsonl"), `{"epoch":1,"loss":0.5,"seconds":3}`+"\n")
	folders := []string{w.CheckpointsFolder()}
	if rows != nil {
		f.write(w.InRun("evaluation/test/metrics.json"), evaluationOf(rows).Evaluation)
		if err := parquet.Write(t.Context(), parquet.PartFile(w.Evaluation("test")+"/rankings", 0, 1), rows); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, w.EvaluationFolder("test"))
	}
	for _, folder := range folders {
		stage := workspace.Output{Workspace: w, Name: "test", Folder: folder, Inputs: ofGraph(t, w)}
		if err := errors.Join(stage.Resume(t.Context(), false), stage.Publish(t.Context(), nil)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRuns compares a run that is better for every query, one without ranks, and one that differs by chance, with the
// run of the page.
func TestRuns(t *testing.T) {
	root := t.TempDir()
	w := workspace.New(root)
	fixture{t, w, 3, 8}.graph()
	complete(t, w)
	of := func(change func(i int, r *parquet.Ranking)) []parquet.Ranking { return madeRankings(400, change) }
	base := of(nil)
	addRun(t, w, func(*configuration.Configuration) {}, of(func(_ int, r *parquet.Ranking) { r.RankPessimistic += 3 }))
	addRun(t, w.WithRun("wide"), func(c *configuration.Configuration) { c.Dim = 64 }, of(nil))
	addRun(t, w.WithRun("noisy"), func(c *configuration.Configuration) { c.Layers, c.Dim = 5, 64 }, of(func(i int, r *parquet.Ranking) {
		r.RankPessimistic = base[(i+1)%len(base)].RankPessimistic + 3 // the ranks of main, of other queries
	}))
	addRun(t, w.WithRun("unscored"), func(c *configuration.Configuration) { c.Dim = 64 }, nil)

	page, output := made(t, root)
	for _, want := range []string{
		"The workspace has 4 runs", "The rest of the page is about main", "The MRR of wide is higher than that of main by more than",
		"layers 5, dim 64</td>", "dim 64</td>", "The run unscored has no metrics of its best checkpoint on the test split",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if strings.Contains(page, "is lower than that of main") {
		t.Error("a run that differs by chance is called worse")
	}
	if want := "score --workspace " + root + " --run unscored --split test\n"; !strings.Contains(output, want) {
		t.Errorf("the output lacks %q: %s", want, output)
	}
	change := regexp.MustCompile(`<td>&#43;0\.\d{3} \(&#43;0\.\d{3} to &#43;0\.\d{3}\)</td>`)
	if n := len(change.FindAllString(page, -1)); n != 1 {
		t.Errorf("%d runs differ for the better, want 1", n)
	}
	if again, _ := made(t, root); again != page {
		t.Error("the same runs gave another page")
	}
	page, _ = made(t, root, "--run", "wide")
	for _, want := range []string{"The rest of the page is about wide", "The MRR of main and noisy is lower than that of wide"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of wide does not contain %q", want)
		}
	}

	// A run that does not exist leaves the page as it is.
	want := pipelinetest.Failure{Code: command.ExitFailure,
		Says: []string{"the run nope does not exist; --run selects one of the runs that exist: main, noisy, unscored, wide\n"}}
	pipelinetest.Fail(t, Pipeline(), want, "--workspace", root, "--run", "nope")
	if pipelinetest.Read(t, root, "report", "index.html") != page {
		t.Error("a run that does not exist replaced the page")
	}

	// A damaged table of another run ends the report, as one of the page's run does.
	part := parquet.PartFile(w.WithRun("wide").Evaluation("test")+"/rankings", 0, 1)
	if err := storage.WriteFile(t.Context(), part, []byte("damaged")); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"--run wide"}}, "--workspace", root)
}
