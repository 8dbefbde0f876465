package score

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestDevice scores on a device: the metrics are those of the CPU, and what the device has completed stays complete.
func TestDevice(t *testing.T) {
	w := trained(t, "inductive")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--device", "cpu")
	want := metricsOf(t, w, "test")
	pipelinetest.Interpret(t)
	code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--force")
	if code != 0 || !strings.Contains(stderr, "computing on cuda:0 (") {
		t.Fatalf("%d, %s, want what it computes on", code, stderr)
	}
	got := metricsOf(t, w, "test")
	if got.Queries != want.Queries || got.Messages != want.Messages || got.Unreached != want.Unreached ||
		!(math.Abs(got.Mean.MRR-want.Mean.MRR) < 0.01) {
		t.Errorf("metrics %+v on the device, %+v on the CPU", got.Summary, want.Summary)
	}
	before := pipelinetest.Files(t, filepath.Join(w, "evaluation"))
	for _, device := range []string{"cpu", "cuda", "auto"} {
		if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--device", device); !strings.Contains(out, "is complete") {
			t.Errorf("%s scores again: %s", device, out)
		}
	}
	pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "evaluation")), before)
}
