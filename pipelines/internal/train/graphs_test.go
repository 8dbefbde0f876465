package train

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/history"
	"tagnet/model/checkpoint"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/score"
)

// named returns a ring's workspace with another name.
func named(t testing.TB, name string, entities int) string {
	t.Helper()
	workspace := filepath.Join(t.TempDir(), name)
	if err := os.Rename(ring(t, entities), workspace); err != nil {
		t.Fatal(err)
	}
	return workspace
}

// onGraphs returns the flags of a short training on two rings and made graphs.
func onGraphs(t testing.TB, workspace string, more ...string) []string {
	return append([]string{
		"--workspace", workspace, "--graphs", ring(t, 40) + ",made," + named(t, "small", 24), "--validate_graphs", ring(t, 40), "--preset", "zero",
		"--layers", "3", "--dim", "8", "--relation_layers", "2", "--epochs", "2", "--epoch_steps", "12", "--made_steps", "2", "--negatives", "8",
	}, more...)
}

// TestTrainOnSeveralGraphs trains a model of any graph, and scores another graph with it.
func TestTrainOnSeveralGraphs(t *testing.T) {
	w := filepath.Join(t.TempDir(), "any")
	out := pipelinetest.Succeed(t, Pipeline(), onGraphs(t, w)...)
	for _, want := range []string{"40 entities, 3 relations", "best: epoch", "score --workspace WORKSPACE --checkpoint"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	folder := filepath.Join(w, "runs/main/checkpoints")
	r, err := checkpoint.Folder(folder).Record(t.Context(), "best")
	if err != nil {
		t.Fatal(err)
	}
	if m := r.Mixture; m == nil || len(m.Graphs) != 2 || m.Graphs[0].Facts == 0 || m.Graphs[0].Checksum == "" || m.Made.Share != .25 || len(m.Valid) != 1 || m.Valid[0].Queries == 0 {
		t.Errorf("the record has %+v", m)
	}
	lines, err := history.Read(t.Context(), filepath.Join(w, "runs/main/training.jsonl"))
	if err != nil || len(lines) != 2 || len(lines[1].Graphs) != 3 || lines[1].Graphs[2].Name != "made" || len(lines[1].Trials) != 1 {
		t.Errorf("training.jsonl has %+v, %v", lines, err)
	}
	if out := pipelinetest.Succeed(t, Pipeline(), onGraphs(t, w)...); !strings.Contains(out, "is complete with the same configuration") {
		t.Errorf("the same command again:\n%s", out)
	}
	other := prepared(t, pipelinetest.Dataset(t, pipelinetest.Ring("f", 30)))
	scored := pipelinetest.Succeed(t, score.Pipeline(), "--workspace", other, "--checkpoint", filepath.Join(folder, r.Name()+".safetensors"))
	if !strings.Contains(scored, "MRR") {
		t.Errorf("scoring another graph:\n%s", scored)
	}
	further := pipelinetest.Succeed(t, Pipeline(), "--workspace", other, "--from", filepath.Join(folder, "best"), "--epochs", "1")
	if !strings.Contains(further, "of any graph, trained on workspace, small, made") || !strings.Contains(further, "best: epoch 1") {
		t.Errorf("training further on another graph:\n%s", further)
	}
}

func TestSeveralGraphsRefused(t *testing.T) {
	w, on := filepath.Join(t.TempDir(), "any"), ring(t, 40)
	for _, c := range []struct {
		flags []string
		want  string
	}{
		{[]string{"--graphs", on}, "add --preset zero or --relations graph"},
		{[]string{"--preset", "zero", "--epoch_steps", "5"}, "--epoch_steps is for a training on several graphs: add --graphs"},
		{[]string{"--preset", "zero", "--graphs", on + "," + on}, "stands twice"},
		{[]string{"--preset", "zero", "--graphs", on + "," + filepath.Dir(on) + "/./workspace/"}, "stands twice"},
		{[]string{"--preset", "zero", "--graphs", "made, made"}, "stands twice"},
		{[]string{"--preset", "zero", "--graphs", on + "," + filepath.Join(w, "workspace")}, "would both be named workspace in what is printed and recorded: rename one"},
		{[]string{"--preset", "zero", "--graphs", "made,./made"}, "the graphs of made and ./made would both be named made"},
		{[]string{"--preset", "zero", "--graphs", on, "--validate_graphs", on + "," + filepath.Join(w, "workspace")}, "--validate_graphs: the graphs of"},
		{[]string{"--preset", "zero", "--graphs", on + ",,"}, "empty entry"},
		{[]string{"--preset", "zero", "--graphs", on, "--epochs", "1", "--epoch_steps", "1", "--made_share", "0.25"}, "--made_share is for made graphs: add made to --graphs, or leave it out"},
		{[]string{"--preset", "zero", "--graphs", on, "--epochs", "1", "--epoch_steps", "1", "--made_steps", "5"}, "--made_steps is for made graphs: add made to --graphs, or leave it out"},
		{[]string{"--preset", "zero", "--graphs", "made", "--epochs", "1", "--epoch_steps", "1", "--made_share", "0.5"}, "--made_share: all graphs of --graphs are made: leave it out"},
		{[]string{"--graph_exponent", "1"}, "--graph_exponent is for a training on several graphs: add --graphs"},
		{[]string{"--preset", "zero", "--graphs", on, "--validate_graphs", "made"}, "have no workspace"},
		{[]string{"--preset", "zero", "--graphs", on, "--workers", "2"}, "leave --workers out"},
		{[]string{"--preset", "zero", "--graphs", on, "--made_share", "1"}, "--made_share is 1"},
		{[]string{"--preset", "zero", "--graphs", on, "--epoch_steps", "0"}, "--epoch_steps is 0"},
		{[]string{"--preset", "zero", "--graphs", on, "--graph_exponent", "200"}, "--graph_exponent is 200: want 0 to 10"},
		{[]string{"--preset", "zero", "--graphs", on, "--graph_exponent", "Inf"}, "--graph_exponent is +Inf: want 0 to 10"},
		{[]string{"--preset", "zero", "--graphs", on, "--patience", "2"}, "add --validate_graphs"},
		{[]string{"--preset", "zero", "--graphs", filepath.Join(w, "absent")}, "preprocess"},
	} {
		code := command.ExitUsage
		if strings.HasSuffix(c.flags[len(c.flags)-1], "absent") {
			code = command.ExitFailure
		}
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: code, Says: []string{c.want}}, append([]string{"--workspace", w}, c.flags...)...)
	}
}

// TestSeveralGraphsResume continues a training with more epochs, and refuses one on other graphs.
func TestSeveralGraphsResume(t *testing.T) {
	w := filepath.Join(t.TempDir(), "any")
	pipelinetest.Succeed(t, Pipeline(), onGraphs(t, w)...)
	_, _, shown := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--graphs", ring(t, 40)+",made,"+named(t, "small", 24), "--validate_graphs", ring(t, 40),
		"--epoch_steps", "12", "--made_steps", "2", "--resume", "--epochs", "3")
	for _, want := range []string{"resuming from epoch-002", "epoch 3 of 3: loss", "loss of graphs: workspace 0.", "made 0.", "validation MRR of graphs: workspace 0."} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %q is shown:\n%s", want, shown)
		}
	}
	another := pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"mixture.made.share is 0.25 there, 0.5 here"}}
	pipelinetest.Fail(t, Pipeline(), another, onGraphs(t, w, "--made_share", "0.5", "--epochs", "3")...)
	another.Says = []string{"mixture"}
	pipelinetest.Fail(t, Pipeline(), another, "--workspace", w, "--graphs", "made", "--resume")
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"mixture"}}, "--workspace", w, "--graphs", ring(t, 40), "--resume")
	another.Says = []string{"mixture.graphs is workspace, small there, workspace here", "--resume continues on the same graphs, of which none has changed"}
	pipelinetest.Fail(t, Pipeline(), another, onGraphs(t, w, "--graphs", ring(t, 30)+",made", "--epochs", "4", "--resume")...)
	own := ring(t, 40) // a workspace with a graph, which --resume would take
	pipelinetest.Succeed(t, Pipeline(), onGraphs(t, own)...)
	if scored := pipelinetest.Succeed(t, score.Pipeline(), "--workspace", own, "--split", "valid"); strings.Contains(scored, "another graph") || strings.Contains(scored, "--force") {
		t.Errorf("scoring the workspace's own graph:\n%s", scored)
	}
	for _, of := range []string{w, own} {
		pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitUsage, Says: []string{"was trained on several graphs (workspace, small, made): add --graphs"}},
			"--workspace", of, "--resume", "--epochs", "4")
	}
}
