package train

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

// TestValidLimitTellsTheInterval checks what a validation by a sample records and prints beside its metrics, and that
// one by all queries does not.
func TestValidLimitTellsTheInterval(t *testing.T) {
	w := t.TempDir()
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(1, "e", 200)))
	for _, limit := range []int64{0, 12} {
		_, out, stderr := pipelinetest.Run(t, Pipeline(), small(w, "--force", "--epochs", "1", "--valid_limit", fmt.Sprint(limit))...)
		epochs, err := metrics.ReadHistory(t.Context(), filepath.Join(w, "runs/main/training.jsonl"))
		if err != nil || len(epochs) != 1 || epochs[0].Valid == nil {
			t.Fatalf("%+v, %v; %s", epochs, err, stderr)
		}
		v := epochs[0].Valid
		if limit == 0 {
			if v.Sample != nil || v.Queries <= 12 || strings.Contains(out+stderr, "95%") {
				t.Errorf("all %d queries are a sample of %+v: %s%s", v.Queries, v.Sample, out, stderr)
			}
			continue
		}
		if v.Queries != limit || v.Sample == nil || v.Sample.Of <= limit || v.Sample.Intervals == nil {
			t.Fatalf("%d queries, a sample of %+v", v.Queries, v.Sample)
		}
		if i := v.Sample.Intervals.MRR; i.Excludes(v.Pessimistic.MRR) || i.Low == i.High || !strings.Contains(stderr, fmt.Sprintf("(95%%: %v)", i)) {
			t.Errorf("MRR %g with the interval %v; printed: %s", v.Pessimistic.MRR, i, stderr)
		}
		if want := fmt.Sprintf("a sample of %d queries: the 95%% intervals are", v.Sample.Of); !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
}
