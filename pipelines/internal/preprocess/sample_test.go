package preprocess

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/stages/graph"
)

// TestSample holds that the built-in sample is used, and said to be, without --dataset; that
// the seed decides it; and that a workspace may lie anywhere that storage knows.
func TestSample(t *testing.T) {
	workspace := "mem://" + t.Name()
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", workspace, "--seed", "1")
	if !strings.HasPrefix(out, "no --dataset: using the built-in sample") {
		t.Errorf("the sample is not announced: %s", out)
	}
	s, err := graph.ReadSummary(context.Background(), workspace+"/graph")
	if err != nil || s.Dataset != "sample" || s.Facts == 0 || s.Queries["test"] == 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if code, out, _ := pipelinetest.Run(t, Pipeline(), "--workspace", workspace, "--seed", "1"); code != 0 || !strings.Contains(out, "is complete") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", workspace, "--seed", "2"); code == 0 || !strings.Contains(stderr, "another configuration") {
		t.Errorf("another seed: exit %d, %s", code, stderr)
	}
}

// TestSampleBesideAnotherGraph holds that a forgotten --dataset writes nothing into a workspace,
// and that the sample itself may be forgotten.
func TestSampleBesideAnotherGraph(t *testing.T) {
	w := t.TempDir()
	sample := filepath.Join(w, "sample", "train.txt")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, small()))
	pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"files.train differs", w + " --force"}}, "--workspace", w)
	if _, err := os.Stat(sample); err == nil {
		t.Error("the sample was made all the same")
	}
	if code, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--force"); code != 0 || !strings.Contains(out, "built-in sample") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	before, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, _ := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--seed", "9"); code != command.ExitFailure {
		t.Errorf("another seed: exit %d", code)
	}
	if after, err := os.ReadFile(sample); err != nil || string(after) != string(before) {
		t.Errorf("another seed's sample stands in the place of the one that was read: %v", err)
	}
	pipelinetest.Remove(t, filepath.Dir(sample))
	if code, out, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w); code != 0 || !strings.Contains(out, "is complete with the same data") {
		t.Errorf("without its texts: exit %d: %s%s", code, out, stderr)
	}
}
