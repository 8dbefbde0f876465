package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tagnet/formats/manifest"
	"tagnet/formats/parquet"
	"tagnet/model/calibration"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/workspace"
)

// addAnswers writes a complete folder of answers to the user's own queries, with the given configuration in its manifest.
func addAnswers(t *testing.T, w workspace.Workspace, name string, recorded map[string]any) {
	t.Helper()
	publish(t, w, name, recorded, "predictions", []parquet.Prediction{{Source: "Source of " + name, Relation: "knows", Direction: "tail", Position: 1, Entity: "Bo"}})
}

// publish completes a folder beside the evaluations, with a table of one part.
func publish[T parquet.Row](t *testing.T, w workspace.Workspace, name string, recorded map[string]any, table string, rows []T) {
	t.Helper()
	stage := workspace.Stage{Workspace: w, Name: "score", Folder: w.EvaluationFolder(name), Configuration: recorded}
	if err := errors.Join(parquet.Write(t.Context(), parquet.PartFile(w.Evaluation(name)+"/"+table, 0, 1), rows),
		stage.Resume(t.Context(), false), stage.Publish(t.Context(), nil)); err != nil {
		t.Fatal(err)
	}
}

// TestOwnAnswersOfAnotherModel checks that the page leaves out answers of other weights or of another calibration than
// the best checkpoint's, and names the model of the others.
func TestOwnAnswersOfAnotherModel(t *testing.T) {
	root := t.TempDir()
	w := workspace.New(root)
	f := fixture{t, w, 3, 8}
	f.training()
	best := checkpoint.Record{Configuration: configuration.Default(), Epoch: 12, Weights: manifest.File{SHA256: "of-the-best"}}
	f.record(best)
	fitted, err := calibration.Fit([]calibration.Candidate{{Score: 2, True: true}, {Query: 1, Score: 1}}, []string{"a", "b"})
	if err == nil {
		err = checkpoint.Folder(w.Checkpoints()).SaveCalibration(t.Context(), best, fitted)
	}
	if err != nil {
		t.Fatal(err)
	}
	present, err := checkpoint.Folder(w.Checkpoints()).Calibration(t.Context(), best, "")
	if err != nil {
		t.Fatal(err)
	}
	addAnswers(t, w, "queries", map[string]any{"checkpoint": "epoch-003", "weights": "of-another"})
	addAnswers(t, w, "ask-current", map[string]any{"checkpoint": "epoch-012", "weights": "of-the-best", "calibration": present.Checksum})
	addAnswers(t, w, "ask-given", map[string]any{"checkpoint": "epoch-000", "weights": "given", "given": map[string]string{"file": "model.pth", "relations_sha256": "names"}})
	addAnswers(t, w, "ask-old", map[string]any{"checkpoint": "epoch-012", "weights": "of-another"})
	addAnswers(t, w, "ask-recalibrated", map[string]any{"checkpoint": "epoch-012", "weights": "of-the-best", "calibration": "another"})
	addAnswers(t, w, "ask-shifted", map[string]any{"checkpoint": "epoch-012", "weights": "of-the-best", "calibration": present.Checksum, "base_rate": 0.05})
	addAnswers(t, w, "ask-uncalibrated", map[string]any{"checkpoint": "epoch-012", "weights": "of-the-best"})
	page, output := run(t, root)
	for _, want := range []string{
		"evaluation/queries is of epoch-003, but the best checkpoint now is epoch-012): go run ./pipelines/score --workspace " + root + " --queries FILE --force\n",
		"evaluation/ask-given is of --weights model.pth, but the best",
		"evaluation/ask-old is of epoch-012 of another training, but the best checkpoint now is epoch-012)",
		"evaluation/ask-recalibrated are not those of the present calibration of epoch-012): go run ./pipelines/score --workspace " + root + " --relation RELATION --output ask-recalibrated --force\n",
	} {
		if !strings.Contains(output, want) {
			t.Errorf("the output lacks %q: %s", want, output)
		}
	}
	for name, shown := range map[string]bool{"queries": false, "ask-current": true, "ask-given": false, "ask-recalibrated": false, "ask-shifted": true, "ask-uncalibrated": true} {
		if strings.Contains(page, "Source of "+name+" <") != shown {
			t.Errorf("the answers in %s are shown: %v, want %v", name, !shown, shown)
		}
	}
	for text, want := range map[string]int{"The answers are those of epoch-012.": 2, "The answers are those of epoch-012, and the probabilities presume --base_<wbr>rate 0.05.": 1} {
		if n := strings.Count(page, text); n != want {
			t.Errorf("the page has %q %d times, want %d", text, n, want)
		}
	}
}

// TestRunThatWasOnlyScored checks that a run with metrics of a model from elsewhere is not said to lack a model.
func TestRunThatWasOnlyScored(t *testing.T) {
	root := t.TempDir()
	w := workspace.New(root)
	fixture{t, w, 3, 8}.graph()
	if _, output := run(t, root); !strings.Contains(output, "There is no trained model: ") || strings.Contains(output, "checkpoint") {
		t.Errorf("without metrics: %s", output)
	}
	addAnswers(t, w, "test", map[string]any{"checkpoint": "epoch-016", "given": map[string]string{"model": "wn18rr_v1"}})
	code, output, problems := pipelinetest.Run(t, Pipeline(), "--workspace", root)
	if code != command.ExitOK || !strings.Contains(output, "The model is --model wn18rr_v1, which was not trained in this run: ") || strings.Contains(output, "There is no trained model") {
		t.Errorf("with those of a model from elsewhere: exit code %d, %s%s", code, output, problems)
	}
}

// TestFoldersOfOwnAnswersLeftOut checks that the output and the page name the folders of answers beyond the first five, and
// that folders which cannot be used do not count.
func TestFoldersOfOwnAnswersLeftOut(t *testing.T) {
	root := t.TempDir()
	w := workspace.New(root)
	if err := parquet.Write(t.Context(), parquet.PartFile(w.Evaluation("ask-0")+"/predictions", 0, 1), []parquet.Prediction{}); err != nil {
		t.Fatal(err)
	}
	for i := range ownFolders {
		addAnswers(t, w, fmt.Sprint("ask-", i+1), nil)
	}
	if page, output := run(t, root); !strings.Contains(page, "<h2>Your queries, ask-5</h2>") || strings.Contains(output, "leaves out") {
		t.Errorf("not all of %d folders are shown: %s", ownFolders, output)
	}
	addAnswers(t, w, "ask-6", nil)
	addAnswers(t, w, "queries", nil)
	page, output := run(t, root)
	want := "The page shows the answers of 5 folders. It leaves out 2 others in " + w.Path("runs/main/evaluation") + ": ask-5 and ask-6."
	if !strings.Contains(output, "not shown: "+want+"\n") || !strings.Contains(strings.ReplaceAll(page, "<wbr>", ""), want+"</p>") {
		t.Errorf("the notice %q is missing: %s", want, output)
	}
	if !strings.Contains(page, "Source of queries <") || !strings.Contains(page, "Source of ask-4 <") || strings.Contains(page, "Source of ask-5") {
		t.Error("the folders on the page are not queries and the first others")
	}
}

// TestTitlesOfOwnAnswers heads answers by what was asked, instead of by their folders.
func TestTitlesOfOwnAnswers(t *testing.T) {
	root := t.TempDir()
	w := workspace.New(root)
	addAnswers(t, w, "ask-knows-new", map[string]any{"relation": "knows", "only_new": true, "candidates": "type:Person", "sources": "12 names, 0f"})
	addAnswers(t, w, "ask-all", map[string]any{"relation": "a,b,c,~d"})
	addAnswers(t, w, "queries", map[string]any{"queries": "0f"})
	addAnswers(t, w, "mine", map[string]any{"queries": "0f"})
	page, _ := run(t, root)
	for _, want := range []string{"<h2>New answers to knows, sources: 12, candidates: Person</h2>", "<h2>Answers to 4 relations</h2>", "<h2>Your queries</h2>", "<h2>Your queries, mine</h2>"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
}
