package report

import (
	"strings"
	"testing"

	"tagnet/formats/workspace/metrics"
	"tagnet/pipelines/internal/cli/workspace"
)

// TestOtherProtocols shows an evaluation by another protocol as such.
func TestOtherProtocols(t *testing.T) {
	root := t.TempDir()
	f := fixture{t, workspace.New(root), 5, 40}
	f.graph()
	f.training()
	f.evaluation("test")
	f.ranks("test")
	f.write("runs/main/evaluation/grail/metrics.json",
		metrics.Evaluation{Split: "test", Checkpoint: "epoch-012", Protocol: metrics.GraIL, Negatives: 49, Summary: summaryOf(40, 0.83)})
	page, output := run(t, root)
	for _, want := range []string{"Other protocols", "grail: test facts, each answer among 49 random negatives", ">0.830<", ">0.911<"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if strings.Contains(page, "valid-and-test") || strings.Contains(output, "grail") {
		t.Errorf("the page shows what there is not; output:\n%s", output)
	}
	plain := fixture{t, workspace.New(t.TempDir()), 5, 40}
	plain.graph()
	plain.training()
	plain.evaluation("test")
	plain.ranks("test")
	if page, _ := run(t, plain.workspace.Root()); strings.Contains(page, "protocol") {
		t.Error("the page of a workspace without other protocols speaks of them")
	}
}

// TestSamples shows an evaluation of a sample as one, wherever its metrics stand, and that of all queries not.
func TestSamples(t *testing.T) {
	of := func(sample *metrics.Sample) string {
		root := t.TempDir()
		f := fixture{t, workspace.New(root), 5, 40}
		f.graph()
		f.training()
		f.write("runs/main/evaluation/test/metrics.json",
			metrics.Evaluation{Split: "test", Checkpoint: "epoch-012", Sample: sample, Summary: summaryOf(40, 0.83)})
		f.write("runs/main/evaluation/grail/metrics.json",
			metrics.Evaluation{Split: "test", Checkpoint: "epoch-012", Protocol: metrics.GraIL, Negatives: 49, Sample: sample, Summary: summaryOf(40, 0.83)})
		page, _ := run(t, root)
		return page
	}
	page := of(&metrics.Sample{Of: 4321})
	for _, want := range []string{"On 40 queries of the test split, a sample of its 4,321, the model", "filtered, pessimistic, of a sample", ">40 of 4,321<"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not contain %q", want)
		}
	}
	if page := of(nil); strings.Contains(page, "sample") {
		t.Error("the page calls all queries a sample")
	}
}
