package train

import (
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestDryRun checks that --dry_run and --plan print the job and leave the outputs of a complete workspace.
func TestDryRun(t *testing.T) {
	pipelinetest.DryRun(t, Pipeline(), finished(t), "/train.learnFn", "--epochs", "20")
	// Of several workers, the first job is printed.
	pipelinetest.DryRun(t, Pipeline(), finished(t), "/train.shardFn", "--workers", "2")
	// The ring has 112 training facts, and an epoch one query of each.
	pipelinetest.Plan(t, Pipeline(), finished(t), "step       train.learn: 112 queries in an epoch, which has 7 optimizer steps", "--epochs", "20")
}
