package analyze

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tagnet/formats/lock"
	"tagnet/formats/manifest"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// interrupter cancels a run when so many lines were said.
type interrupter struct {
	bytes.Buffer
	left   int
	cancel context.CancelFunc
}

func (i *interrupter) Write(p []byte) (int, error) {
	if i.left--; i.left <= 0 {
		i.cancel()
	}
	return i.Buffer.Write(p)
}

// TestInterruptAnywhere interrupts a run after each line that it says and at moments between them.
// Each folder then is complete, or marked as unfinished, or absent; and the next run continues
// without --force, to the same bytes.
func TestInterruptAnywhere(t *testing.T) {
	folder := pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 40))
	arguments := func(root string) []string {
		return []string{"--workspace", root, "--dataset", folder, "--layers", "2", "--deltas", "0,1", "--splits", "test"}
	}
	whole := t.TempDir()
	begun := time.Now()
	code, out, stderr := pipelinetest.Run(t, Pipeline(), arguments(whole)...)
	if code != command.ExitOK {
		t.Fatal(stderr)
	}
	took := time.Since(begun)
	want := pipelinetest.Files(t, whole)
	interrupt := func(t *testing.T, lines int, after time.Duration) (code int) {
		root := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		defer time.AfterFunc(after, cancel).Stop()
		said := &interrupter{left: lines, cancel: cancel}
		var stderr bytes.Buffer
		code = command.Run(ctx, Pipeline(), arguments(root), said, &stderr)
		if code != command.ExitInterrupted && code != command.ExitOK {
			t.Errorf("after %d lines or %v: exit %d, %s", lines, after, code, stderr.String())
		}
		for name := range pipelinetest.Files(t, root) {
			if strings.HasPrefix(name, "sample") || strings.HasPrefix(name, "report") {
				continue
			}
			if !finished(root, name) {
				t.Errorf("after %d lines or %v: %s is neither of a complete folder nor of one that is marked", lines, after, name)
			}
		}
		if code, _, stderr := pipelinetest.Run(t, Pipeline(), arguments(root)...); code != command.ExitOK {
			t.Errorf("after %d lines or %v, the next run: exit %d, %s", lines, after, code, stderr)
		}
		got := pipelinetest.Files(t, root)
		for name, text := range want {
			if name == "report/index.html" { // which tells commands with the workspace's path
				got[name] = strings.ReplaceAll(got[name], root, whole)
			}
			if got[name] != text {
				t.Errorf("after %d lines or %v: %s has %d bytes, want %d, or other ones", lines, after, name, len(got[name]), len(text))
			}
			delete(got, name)
		}
		for name := range got {
			t.Errorf("after %d lines or %v: %s is too many", lines, after, name)
		}
		return code
	}
	interrupted := 0
	lines := strings.Count(out, "\n")
	for line := 1; line < lines; line += 5 {
		if interrupt(t, line, time.Minute) == command.ExitInterrupted {
			interrupted++
		}
	}
	const moments = 5
	for i := range moments {
		if interrupt(t, lines+1, took*time.Duration(2*i+1)/(2*moments)) == command.ExitInterrupted {
			interrupted++
		}
	}
	if interrupted < 4 {
		t.Errorf("%d runs were interrupted", interrupted)
	}
}

// finished reports whether a folder above a file is complete or marked.
func finished(root, name string) bool {
	for folder := filepath.Dir(name); folder != "."; folder = filepath.Dir(folder) {
		for _, file := range []string{manifest.FileName, lock.FileName} {
			if _, err := os.Stat(filepath.Join(root, folder, file)); err == nil {
				return true
			}
		}
	}
	return false
}

// TestPageIsMadeAfterAnInterrupt holds that the page never shows an analysis before the one that is
// there: a run that ends between the two leaves no page, and the next makes it.
func TestPageIsMadeAfterAnInterrupt(t *testing.T) {
	folder, root := pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 40)), t.TempDir()
	arguments := []string{"--workspace", root, "--dataset", folder, "--layers", "2", "--deltas", "0", "--splits"}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), append(arguments, "test")...); code != command.ExitOK {
		t.Fatal(stderr)
	}
	page := filepath.Join(root, "report", "index.html")
	first, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	// The page cannot be written: as if the run had ended before.
	figure := filepath.Join(root, "report", "degrees.svg")
	pipelinetest.Remove(t, figure)
	if err := os.MkdirAll(filepath.Join(figure, "in the way"), 0o777); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := pipelinetest.Run(t, Pipeline(), append(arguments, "test,valid")...); code != command.ExitFailure || !strings.Contains(stderr, "in the way") {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	pipelinetest.Remove(t, figure)
	if code, out, stderr := pipelinetest.Run(t, Pipeline(), append(arguments, "test,valid")...); code != command.ExitOK || !strings.Contains(out, "wrote "+page) {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}
	if second, err := os.ReadFile(page); err != nil || bytes.Equal(second, first) {
		t.Errorf("the page is the first one's: %v", err)
	}
}
