package preprocess

import (
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestDryRun checks that --dry_run prints the job and leaves the outputs of a complete workspace.
func TestDryRun(t *testing.T) {
	w := t.TempDir()
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w)
	pipelinetest.DryRun(t, Pipeline(), w, "/vocabulary.namesFn")
}
