package report

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestOrigin checks what is said of weights that were published, and of an approximation.
func TestOrigin(t *testing.T) {
	t.Parallel()
	published := &checkpoint.Origin{File: "ultra_3g.pth", SHA256: "fdedc01b0045fc089d2ad5da08569466b7b221691fe978a18e91082bbb133c18"}
	for name, c := range map[string]struct {
		of   workspace.Evaluated
		want string
		on   string
	}{
		"a trained model": {workspace.Evaluated{}, "", ""},
		"other weights":   {workspace.Evaluated{GivenModel: &checkpoint.Origin{File: "own.pth", SHA256: "another"}}, "", "wn18rr"},
		"published": {workspace.Evaluated{GivenModel: published},
			"published as ultra_3g.pth, trained on FB15k-237, WN18RR and CoDEx-M. On these graphs", "umls"},
		"a graph of its training": {workspace.Evaluated{GivenModel: published}, "CoDEx-M. Facts of WN18RR_v2_ind are among them: these are not",
			"WN18RR_v2_ind"},
		"trained further": {workspace.Evaluated{Checkpoint: "epoch-001", From: published},
			"WN18RR and CoDEx-M, and then trained further. On the authors' graphs", "codex-s"},
	} {
		got := strings.Join(evaluation{evaluated: c.of}.origin("", c.on), " ")
		if !strings.Contains(got, c.want) || (c.want == "") != (got == "") {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestGivenModel checks that the page names the model of a run that has none of its own, beside those of other runs and
// in the title.
func TestGivenModel(t *testing.T) {
	t.Parallel()
	of := func(reach int) *evidence {
		given := workspace.Evaluated{GivenModel: &checkpoint.Origin{File: "ultra_3g.pth"}, Reach: reach}
		return &evidence{workspace: workspace.New("w"), evaluations: []evaluation{{evaluated: given}}}
	}
	e := of(0)
	e.runs = []*evidence{e, of(9)}
	var got []string
	for _, row := range e.composeRuns().Tables[0].Rows {
		got = append(got, row[1].Text)
	}
	if diff := cmp.Diff([]string{"--model ultra_3g.pth", "--model ultra_3g.pth --reach 9"}, got); diff != "" {
		t.Errorf("configurations (-want +got):\n%s", diff)
	}
	if title := e.compose().Title; title != "Pretrained model" {
		t.Errorf("title %q, want Pretrained model", title)
	}
}

// TestAnotherReach checks that the page says of a run that its metrics are those of another reach than its
// model was trained with.
func TestAnotherReach(t *testing.T) {
	t.Parallel()
	var e evidence
	for _, reach := range []int{20, 5, 0} {
		run := evidence{workspace: workspace.New("w"), checkpoint: &checkpoint.Record{Configuration: configuration.Configuration{Reach: 20}}}
		run.evaluations = []evaluation{{evaluated: workspace.Evaluated{Checkpoint: "epoch-001", Reach: reach}}}
		e.runs = append(e.runs, &run)
	}
	e.workspace, e.evaluations = e.runs[0].workspace, e.runs[0].evaluations
	var got []string
	for _, row := range e.composeRuns().Tables[0].Rows {
		got = append(got, row[1].Text)
	}
	if diff := cmp.Diff([]string{"–", "scored with --reach 5", "scored with --reach 0"}, got); diff != "" {
		t.Errorf("configurations (-want +got):\n%s", diff)
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
	recorded := map[string]any{"checkpoint": "epoch-016", "given": map[string]string{"model": "wn18rr_v1"}}
	stage := workspace.Output{Workspace: w, Name: "score", Folder: w.EvaluationFolder("test"), Configuration: recorded}
	if err := errors.Join(stage.Resume(t.Context(), false), stage.Publish(t.Context(), nil)); err != nil {
		t.Fatal(err)
	}
	code, output, problems := pipelinetest.Run(t, Pipeline(), "--workspace", root)
	if code != command.ExitOK || !strings.Contains(output, "The model is --model wn18rr_v1, which was not trained in this run: ") ||
		strings.Contains(output, "There is no trained model") {
		t.Errorf("with those of a model from elsewhere: exit code %d, %s%s", code, output, problems)
	}
}
