package study

import (
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestMessagesDryRun checks that --dry_run and --plan print the job and leave the outputs of a complete workspace.
func TestMessagesDryRun(t *testing.T) {
	w := prepared(t, false)
	pipelinetest.Succeed(t, Messages(), "--workspace", w)
	pipelinetest.DryRun(t, Messages(), w, "/study.countFn")
	pipelinetest.Plan(t, Messages(), w, "step       study.count: ")
}
