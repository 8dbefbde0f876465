package pipelinetest

import (
	"bytes"
	"context"
	"io"
	"runtime/debug"
	"strings"
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
)

// Pipelines on small data allocate buffers that they hardly fill: with Go's default of 100 the garbage
// collector takes up to half of the tests' processor time.
func init() { debug.SetGCPercent(400) }

// Run runs a pipeline in this process and returns its exit code and what it printed.
func Run(t testing.TB, p command.Pipeline, arguments ...string) (code int, out, stderr string) {
	t.Helper()
	hideDevices()
	var o, e bytes.Buffer
	code = command.Run(context.Background(), p, arguments, &o, &e)
	return code, o.String(), e.String()
}

// Succeed runs a pipeline, ends the test unless the exit code is 0, and returns what the pipeline
// printed on standard output.
func Succeed(t testing.TB, p command.Pipeline, arguments ...string) string {
	t.Helper()
	code, out, stderr := Run(t, p, arguments...)
	if code != command.ExitOK {
		t.Fatalf("%s %q: exit code %d: %s", p.Name, arguments, code, stderr)
	}
	return out
}

// Failure is how a pipeline is expected to fail.
type Failure struct {
	Code  int
	Begin string   // the error line begins with this text
	Says  []string // and contains each of these
}

// Fail runs a pipeline and checks that it ends with the expected exit code and a single line on
// standard error. It returns that line.
func Fail(t testing.TB, p command.Pipeline, want Failure, arguments ...string) string {
	t.Helper()
	code, _, stderr := Run(t, p, arguments...)
	if code != want.Code {
		t.Errorf("%s %q: exit code %d, want %d", p.Name, arguments, code, want.Code)
	}
	if strings.Count(stderr, "\n") != 1 || strings.Contains(stderr, "goroutine") {
		t.Errorf("%s %q: want a single line on standard error, got %q", p.Name, arguments, stderr)
	}
	if !strings.HasPrefix(stderr, want.Begin) {
		t.Errorf("%s %q: the error is %q, want it to begin %q", p.Name, arguments, stderr, want.Begin)
	}
	for _, text := range want.Says {
		if !strings.Contains(stderr, text) {
			t.Errorf("%s %q: no %q in the error %q", p.Name, arguments, text, stderr)
		}
	}
	return stderr
}

// Environment returns an environment that prints nothing.
func Environment() *command.Environment {
	return &command.Environment{Out: io.Discard, Err: io.Discard, Progress: progress.New(io.Discard, false)}
}
