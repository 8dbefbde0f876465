//go:build unix

package scoring_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/scoring"
)

// TestRelationsWithSpaces asks relations whose names begin or end with a space, alone and beside another.
func TestRelationsWithSpaces(t *testing.T) {
	a := &scoring.Asking{Run: &scoring.Run{View: &kg.View{}, Loaded: &kg.KG{Train: &kg.View{}, Relations: []string{" a", "b", "c, d "}}}}
	for relation, want := range map[string][]int32{" a": {0}, "~ a": {3}, "c, d ": {2}, "b ": {1}, " ~b , b": {1, 4}} {
		got, _, err := a.Relations(t.Context(), "relation", relation)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%q: %v (-want +got):\n%s", relation, err, diff)
		}
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
	if _, err := scoring.ReadOnce(ctx, "queries", pipe, func(string, io.Reader) (int, error) { return 0, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
