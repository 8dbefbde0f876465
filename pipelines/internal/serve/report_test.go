package serve

import (
	"os"
	"strings"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestReport asks for the report of a workspace, as it is at the moment.
func TestReport(t *testing.T) {
	t.Parallel()
	s, address := start(t)
	got := send(t, "GET", address+"/report", "")
	if got.status != 200 || !strings.Contains(got.text, "a report") || got.header.Get("Content-Type") != "text/html; charset=utf-8" ||
		!strings.HasSuffix(got.header.Get("Content-Security-Policy"), "; sandbox") {
		t.Errorf("status %d, %v, %s", got.status, got.header, got.text)
	}
	pipelinetest.Write(t, s.report, "another one")
	if got := send(t, "GET", address+"/report", ""); got.text != "another one" {
		t.Errorf("a report that was written again: %s", got.text)
	}
	if err := os.Remove(s.report); err != nil {
		t.Fatal(err)
	}
	if got := send(t, "GET", address+"/report", ""); got.status != 404 || !strings.Contains(got.text, "the command report writes one") {
		t.Errorf("without a report: status %d, %s", got.status, got.text)
	}
}
