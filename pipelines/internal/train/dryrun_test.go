package train

import (
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestDryRun checks that --dry_run prints the job and leaves the outputs of a complete workspace.
func TestDryRun(t *testing.T) {
	pipelinetest.DryRun(t, Pipeline(), finished(t), "/learn.learnFn")
	// Of several workers, the first job is printed.
	pipelinetest.DryRun(t, Pipeline(), finished(t), "/learn.shardFn", "--workers", "2")
}
