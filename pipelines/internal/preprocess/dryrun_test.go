package preprocess

import (
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestDryRun checks that --dry_run prints the job and leaves the outputs of a complete workspace.
func TestDryRun(t *testing.T) {
	w, dataset := t.TempDir(), pipelinetest.Dataset(t, pipelinetest.Ring("e", 20))
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--dataset", dataset)
	pipelinetest.DryRun(t, Pipeline(), w, "/vocabulary.namesFn", "--dataset", dataset)
}
