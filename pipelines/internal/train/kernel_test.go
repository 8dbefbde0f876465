package train

import (
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestResumeKeepsTheKernel checks that a resumed training computes with the variant of the epochs before,
// unless --kernel names another.
func TestResumeKeepsTheKernel(t *testing.T) {
	w := ring(t, 20)
	pipelinetest.Succeed(t, Pipeline(), small(w, "--epochs", "1", "--kernel", "portable")...)
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--resume", "--epochs", "2")
	epochs, err := metrics.ReadHistory(t.Context(), filepath.Join(w, "runs/main/training.jsonl"))
	if err != nil || len(epochs) != 2 || epochs[1].Kernel != "portable" || !strings.Contains(out, "--kernel portable, as the epochs before") {
		t.Errorf("%+v, %v; printed %s", epochs, err, out)
	}
}
