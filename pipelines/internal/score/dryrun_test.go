package score

import (
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestDryRun checks that --dry_run and --plan print the job and leave the outputs of a complete workspace.
func TestDryRun(t *testing.T) {
	w := trained(t, "plain")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w)
	pipelinetest.DryRun(t, Pipeline(), w, "/evaluate.shardFn")
	pipelinetest.DryRun(t, Pipeline(), w, "/evaluate.askedFn", "--queries", file(t, "queries.tsv", "e000\tnext\n"))
	pipelinetest.DryRun(t, Pipeline(), w, "/evaluate.askedFn", "--relation", "next", "--explain") // one job
	pipelinetest.Plan(t, Pipeline(), w, "step       evaluate.shard: ")
}
