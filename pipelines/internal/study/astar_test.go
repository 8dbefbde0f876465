package study

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/engine/kernel"
	"tagnet/model/engine/propagation"
	"tagnet/model/pretrained"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/train"
	"tagnet/stages/encode"
	"tagnet/stages/stagetest"
)

// trained returns a workspace with a small model of a policy.
func trained(t *testing.T, policy string) string {
	t.Helper()
	return pipelinetest.Template(t, policy, func(workspace string) {
		pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace,
			"--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 40)), "--inference", pipelinetest.Dataset(t, pipelinetest.Chain(4, "o", 40)))
		preset := filepath.Join(t.TempDir(), "ratio.json")
		pipelinetest.Write(t, preset, `{"node_ratio": 0.4}`)
		pipelinetest.Succeed(t, train.Pipeline(), "--workspace", workspace, "--policy", policy, "--layers", "3", "--delta", "1",
			"--dim", "4", "--epochs", "1", "--negatives", "4", "--preset", preset, "--kernel", "portable")
	})
}

// TestChoicesOfACheckpoint compares with a propagation for every single query, one after the
// other, and the rows with the sums.
func TestChoicesOfACheckpoint(t *testing.T) {
	for _, policy := range []string{configuration.PolicyAStar, configuration.PolicyWindowWithAStar} {
		t.Run(policy, func(t *testing.T) {
			workspace := trained(t, policy)
			out := pipelinetest.Succeed(t, Messages(), "--workspace", workspace, "--model", "best", "--layers", "3", "--deltas", "1", "--kernel", "portable")
			if !strings.Contains(out, "chosen by A*Net") || strings.Contains(out, "training incomplete") {
				t.Errorf("of the choices of a finished training is said: %s", out)
			}
			ctx, folder := context.Background(), filepath.Join(workspace, "runs/main/messages", "test")
			s, err := counts.ReadSummary(ctx, folder)
			if err != nil || s.AStar == nil {
				t.Fatalf("%+v, %v", s, err)
			}
			want := choices(t, workspace)
			got := *s.AStar
			if got.AStar != want.AStar || got.Kept != want.Kept || got.NBFNet != s.Queries*s.Edges*3 || got.Policy != policy || got.AStar == 0 {
				t.Errorf("%+v, want %+v", got, want)
			}
			if (got.Kept == got.AStar) != (policy == configuration.PolicyAStar) {
				t.Errorf("%d of %d are sent", got.Kept, got.AStar)
			}
			rows := stagetest.Rows[parquet.MessageCount](t, filepath.Join(folder, counts.AStarTable))
			storagetest.EveryField(t, append(rows, stagetest.Rows[parquet.MessageCount](t, filepath.Join(folder, counts.CountsTable))...))
			var chosen, kept, empty int64
			for _, r := range rows {
				chosen += r.Queries * r.AStar
				kept += r.Queries * r.Kept
				empty += r.Queries * r.PrunedEmpty
				if r.Edges != r.Kept+r.PrunedEmpty+r.PrunedRedundant || r.PrunedRedundant < 0 {
					t.Errorf("%+v", r)
				}
			}
			// What is empty does not depend on who chooses.
			if c := s.Configurations[0]; chosen != got.AStar || kept != got.Kept || empty != c.KeptEmpty+c.PrunedEmpty {
				t.Errorf("rows: %d chosen, %d kept, %d empty; sums %+v, %+v", chosen, kept, empty, got, c)
			}
		})
	}
}

// TestChoicesOfUnfinishedTraining checks that the output names the checkpoint of the choices.
func TestChoicesOfUnfinishedTraining(t *testing.T) {
	workspace := trained(t, configuration.PolicyAStar)
	pipelinetest.Remove(t, filepath.Join(workspace, "runs/main/checkpoints", "manifest.json"))
	code, out, stderr := pipelinetest.Run(t, Messages(), "--workspace", workspace, "--model", "1", "--layers", "3", "--deltas", "1")
	if code != 0 || !strings.Contains(out, "training incomplete; using epoch-001") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

func choices(t *testing.T, workspace string) (sum counts.AStar) {
	t.Helper()
	ctx := context.Background()
	loaded, err := encode.Load(t.Context(), filepath.Join(workspace, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	queries, err := loaded.Queries(ctx, "test")
	if err != nil {
		t.Fatal(err)
	}
	m, err := answer.Open(ctx, loaded, pretrained.Ref{Folder: checkpoint.FolderOf(workspace, "main"), Name: "best"}, answer.Resources{})
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.Named("portable")
	if err != nil {
		t.Fatal(err)
	}
	g := loaded.Inference.Graph
	w := propagation.NewWeights(g, nil, m.Configuration, false)
	if err := w.Load(k, m.Parameters); err != nil {
		t.Fatal(err)
	}
	propagator := propagation.New(g, m.Configuration, k)
	for _, q := range queries {
		if err := propagator.Forward(ctx, w, propagation.Request{Query: q}); err != nil {
			t.Fatal(err)
		}
		for _, c := range propagator.LayerCounts() {
			sum.AStar += c.AStar
			sum.Kept += c.Kept
		}
	}
	return sum
}

func TestCheckpointMistakes(t *testing.T) {
	workspace := trained(t, configuration.PolicyWindow)
	for name, test := range map[string]struct {
		arguments []string
		code      int
		says      string
	}{
		"of a window":    {[]string{"--model", "best"}, command.ExitFailure, "policy window"},
		"absent":         {[]string{"--model", "7"}, command.ExitFailure, "epoch-007"},
		"of any graph":   {[]string{"--model", "zero"}, command.ExitUsage, `--model is "zero": want a checkpoint of A*Net: best, last, `},
		"nonsense":       {[]string{"--model", "nonsense"}, command.ExitUsage, `--model is "nonsense": want a checkpoint of A*Net: best, last, `},
		"of ULTRA":       {[]string{"--model", "models/ultra.pth"}, command.ExitUsage, "want a checkpoint of A*Net"},
		"while training": {[]string{"--model", "best", "--split", "train"}, command.ExitUsage, "--split"},
		"none":           {[]string{"--model", ""}, command.ExitUsage, `--model is ""`},
		"kernel":         {[]string{"--model", "best", "--kernel", "cuda"}, command.ExitUsage, "--kernel"},
	} {
		t.Run(name, func(t *testing.T) {
			pipelinetest.Fail(t, Messages(), pipelinetest.Failure{Code: test.code, Says: []string{test.says}},
				append([]string{"--workspace", workspace}, test.arguments...)...)
		})
	}
}
