package score

import (
	"path/filepath"
	"regexp"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestLeastMemoryIsEnough scores again with a budget that is too small, which leaves the evaluation
// that exists, and then with the least that the refusal names.
func TestLeastMemoryIsEnough(t *testing.T) {
	w := trained(t, "plain")
	arguments := []string{"--workspace", w, "--threads", "3", "--force"}
	pipelinetest.Succeed(t, Pipeline(), arguments...)
	evaluation := filepath.Join(w, "runs/main/evaluation", "test")
	before := pipelinetest.Files(t, evaluation)["metrics.json"]
	code, _, stderr := pipelinetest.Run(t, Pipeline(), append(arguments, "--memory", "10")...)
	found := regexp.MustCompile(`^--memory 10 is too small: scoring this graph with 3 threads takes at least (\d+) MiB \(Go and Beam 160, graph \d+, .*\); give --memory (\d+) or fewer --threads\n$`).FindStringSubmatch(stderr)
	if code != 2 || found == nil || found[1] != found[2] {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if after := pipelinetest.Files(t, evaluation)["metrics.json"]; before == "" || after != before {
		t.Errorf("a refused run changed metrics.json from %q to %q", before, after)
	}
	pipelinetest.Succeed(t, Pipeline(), append(arguments, "--memory", found[1])...)
	if after := pipelinetest.Files(t, evaluation)["metrics.json"]; after != before {
		t.Errorf("with the least memory metrics.json is %q, was %q", after, before)
	}
}
