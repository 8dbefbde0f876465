package preprocess

import (
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestDryRun checks that --dry_run and --plan print the job and leave the outputs of a complete workspace.
func TestDryRun(t *testing.T) {
	w := t.TempDir()
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w)
	pipelinetest.DryRun(t, Pipeline(), w, "/encode.namesFn")
	pipelinetest.Plan(t, Pipeline(), w, "step       encode.names: 4,")
}
