//go:build unix

package pipelinetest_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestPipesInAWorkspace puts named pipes in the place of files of a workspace. Opening one waits for its other end,
// which nobody opens: a command fails at once instead.
func TestPipesInAWorkspace(t *testing.T) {
	all := steps(t)
	workspace := complete(t, all)
	const preprocess, distances, train, score, messages, report, bundle = 0, 1, 2, 3, 4, 5, 6
	for _, c := range []struct {
		step  int
		name  string
		force bool
	}{
		{preprocess, "graph/.lock", true}, {preprocess, "graph/manifest.json", false},
		{distances, "distances/test/.lock", true}, {distances, "distances/test/manifest.json", false}, {distances, "distances/test/distribution.json", false},
		{distances, "graph/manifest.json", false}, {distances, "graph/edges-00000-of-00001.arrow", true},
		{train, "runs/main/checkpoints/.lock", true}, {train, "runs/main/checkpoints/manifest.json", false}, {train, "runs/main/training.jsonl", true},
		{train, "graph/relations.arrow", true},
		{score, "runs/main/evaluation/test/.lock", true}, {score, "runs/main/evaluation/test/manifest.json", false},
		{score, "runs/main/checkpoints/best", true},
		{messages, "runs/main/messages/test/.lock", true}, {messages, "runs/main/messages/test/summary.json", false},
		{report, "report/index.html", false},
		{bundle, "bundles/test-k8-t2/.lock", true}, {bundle, "bundles/test-k8-t2/manifest.json", false}, {bundle, "graph/edges-00000-of-00001.arrow", true},
	} {
		s := all[c.step]
		t.Run(s.pipeline().Name+" "+c.name, func(t *testing.T) {
			w := filepath.Join(t.TempDir(), "w")
			if err := os.CopyFS(w, os.DirFS(workspace)); err != nil {
				t.Fatal(err)
			}
			at := filepath.Join(w, c.name)
			_ = os.Remove(at) // the lock file does not exist
			if err := syscall.Mkfifo(at, 0o600); err != nil {
				t.Fatal(err)
			}
			// Whoever waits for the other end is let go in the end.
			defer os.OpenFile(at, os.O_RDWR, 0)
			arguments := append([]string{"--workspace", w}, s.arguments...)
			if c.force {
				arguments = append(arguments, "--force")
			}
			type end struct {
				code   int
				stderr string
			}
			done := make(chan end, 1)
			go func() {
				code, _, stderr := pipelinetest.Run(t, s.pipeline(), arguments...)
				done <- end{code, stderr}
			}()
			select {
			case e := <-done:
				if e.code != command.ExitFailure || strings.Count(e.stderr, "\n") != 1 ||
					!strings.Contains(e.stderr, at+": it is a named pipe, not a regular file: remove it") {
					t.Errorf("exit code %d, error %q", e.code, e.stderr)
				}
			case <-time.After(10 * time.Second):
				t.Fatal("it waits for the other end of the pipe")
			}
		})
	}
}
