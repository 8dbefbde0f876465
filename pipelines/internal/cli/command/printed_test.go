package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
)

// fullDisk takes nothing.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// TestWhatCannotBePrintedIsAFailure checks that results, help and completion do not end with 0 where they are lost, and
// that an error's code stays.
func TestWhatCannotBePrintedIsAFailure(t *testing.T) {
	p := Pipeline{Name: "test", Run: func(_ context.Context, e *Environment) error {
		e.Say("an answer")
		return nil
	}}
	for name, c := range map[string]struct {
		arguments []string
		code      int
		says      string
	}{
		"a result": {[]string{"--workspace", t.TempDir()}, ExitFailure, "printing: no space left on device\n"},
		"help":     {[]string{"-h"}, ExitFailure, "printing: no space left on device\n"},
		"misuse":   {[]string{"--runner", "flinc"}, ExitUsage, "--runner is flinc: want "},
	} {
		t.Run(name, func(t *testing.T) {
			deadEndpoint(t) // which restores the runner that a case sets
			var stderr bytes.Buffer
			code := printed(fullDisk{}, &stderr, func(out io.Writer) int { return Run(t.Context(), p, c.arguments, out, &stderr) })
			if code != c.code || !bytes.HasPrefix(stderr.Bytes(), []byte(c.says)) {
				t.Errorf("exit code %d, want %d; it says %q, want %q", code, c.code, &stderr, c.says)
			}
		})
	}
}
