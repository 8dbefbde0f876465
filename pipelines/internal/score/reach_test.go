package score

import (
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestReach scores a model with a reach that covers all, which changes no metric, and with one that covers the source alone.
func TestReach(t *testing.T) {
	w := trained(t, "chain")
	score := func(flags ...string) metrics.Evaluation {
		t.Helper()
		pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", w, "--top_k", "0"}, flags...)...)
		m, err := storage.ReadJSON[metrics.Evaluation](t.Context(), filepath.Join(w, "runs/main/evaluation/test", metrics.File))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	all := score()
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--top_k", "0", "--reach", "100000"); code != 1 || !strings.Contains(stderr, "reach is absent there, 100000 here") {
		t.Errorf("a reach over an evaluation without one: exit code %d, %s", code, stderr)
	}
	if m := score("--reach", "100000", "--force"); m.Summary != all.Summary || m.Messages != all.Messages {
		t.Errorf("a reach of all entities: %+v, want %+v", m.Summary, all.Summary)
	}
	if m := score("--reach", "1", "--force"); m.Messages >= all.Messages/2 || m.Pessimistic.MRR >= all.Pessimistic.MRR {
		t.Errorf("a reach of the source: %d messages, MRR %g; want less than half of %d, and less than %g", m.Messages, m.Pessimistic.MRR, all.Messages, all.Pessimistic.MRR)
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w, "--reach", "-2"); code != 2 || !strings.Contains(stderr, "--reach is -2: want -1 or more") {
		t.Errorf("reach -2: exit code %d, %s", code, stderr)
	}
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--relation", "all", "--output", "mine", "--reach", "1", "--explain")
}
