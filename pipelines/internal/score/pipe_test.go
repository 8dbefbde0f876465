//go:build unix

package score

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestPipedQueries reads queries from a pipe, which can be read only once.
func TestPipedQueries(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	go func() { os.WriteFile(pipe, []byte("e003\t~next\n"), 0o600) }()
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", trained(t, "plain"), "--queries", pipe, "--top_k", "1", "--known"); !strings.Contains(out, "e002") {
		t.Errorf("it is answered by\n%s", out)
	}
}

// TestInterruptedPipe checks that an interrupt ends the wait for a pipe without a writer.
func TestInterruptedPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// Whoever waits for a writer is let go in the end.
	defer os.OpenFile(pipe, os.O_RDWR, 0)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	if _, err := readOnce(ctx, "queries", pipe, func(string, io.Reader) (int, error) { return 0, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
