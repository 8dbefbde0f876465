package study

import (
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestDistancesDryRun checks that --dry_run and --plan print the job and leave the outputs of a complete workspace.
func TestDistancesDryRun(t *testing.T) {
	w := searched(t, 1, false)
	pipelinetest.Succeed(t, Distances(), "--workspace", w)
	pipelinetest.DryRun(t, Distances(), w, "/study.searchFn")
	pipelinetest.Plan(t, Distances(), w, "step       study.search: ")
}
