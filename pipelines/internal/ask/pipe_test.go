//go:build unix

package ask

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
)

// TestPipedQueries reads queries from a pipe, which can be read only once.
func TestPipedQueries(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { os.WriteFile(pipe, []byte("e003\t~next\n"), 0o600) }()
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", scoringtest.Trained(t, "plain"), "--queries", pipe, "--top_k", "1",
		"--known"); !strings.Contains(out, "e002") {
		t.Errorf("it is answered by\n%s", out)
	}
}
