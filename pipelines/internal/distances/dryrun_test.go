package distances

import (
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestDryRun checks that --dry_run and --plan print the job and leave the outputs of a complete workspace.
func TestDryRun(t *testing.T) {
	w := prepared(t, 1, false)
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w)
	pipelinetest.DryRun(t, Pipeline(), w, "/study.searchFn")
	pipelinetest.Plan(t, Pipeline(), w, "step       study.search: ")
}
