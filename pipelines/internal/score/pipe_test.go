//go:build unix

package score

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipedQuestions reads questions from where they can be read once only.
func TestPipedQuestions(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { os.WriteFile(pipe, []byte("e003\t~next\n"), 0o600) }()
	if out := succeed(t, Pipeline(), "--workspace", trained(t, "plain"), "--queries", pipe, "--top_k", "1"); !strings.Contains(out, "e002") {
		t.Errorf("it is answered by\n%s", out)
	}
}
