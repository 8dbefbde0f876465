package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"tagnet/pipelines/internal/pipelinetest"
)

// TestNoCommandOpensAPort starts all commands that run jobs, and looks at the sockets of each process until it ends:
// whoever reached a runner's port could run programs as the user.
func TestNoCommandOpensAPort(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("sockets are listed in /proc, which Linux has")
	}
	w, dataset := filepath.Join(t.TempDir(), "w"), pipelinetest.Dataset(t, pipelinetest.Ring("e", 30))
	small := []string{"--dim", "4", "--layers", "2", "--negatives", "4", "--batch_size", "32", "--epochs", "2"}
	total := 0
	for _, arguments := range [][]string{
		{"preprocess", "--dataset", dataset},
		{"distances", "--split", "test"},
		append([]string{"train"}, small...),
		append([]string{"train", "--run", "rounds", "--workers", "2", "--local_steps", "2"}, small...),
		{"score"},
		{"messages", "--layers", "2", "--deltas", "1"},
		{"bundle", "--split", "test", "--reach", "8", "--layers", "2"},
		{"ask", "--relation", "next"},
		{"discover", "--relation", "skip"},
	} {
		c := start(t, append(arguments, "--workspace", w)...)
		var output bytes.Buffer
		c.Stdout, c.Stderr = &output, &output
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		looks, err := watch(c, ended, func(open []string) {
			t.Errorf("%s listens on %v", arguments, open)
		})
		if err != nil {
			t.Fatalf("%s: %v\n%s", arguments, err, output.String())
		}
		total += looks
	}
	if total == 0 {
		t.Error("all commands had ended before their sockets were looked at")
	}
	// A server has its own port alone, on the address that it prints.
	c, address := startServer(t, w)
	open, err := pipelinetest.Listening(c.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(open, []string{strings.TrimPrefix(address, "http://")}) {
		t.Errorf("serve listens on %v, and prints %s", open, address)
	}
}

// watch looks at the sockets of a process until it ends, calls found with those on which it listens, and returns how
// often it looked and how the process ended.
func watch(c *exec.Cmd, ended <-chan error, found func(open []string)) (looks int, err error) {
	for {
		select {
		case err := <-ended:
			return looks, err
		case <-time.After(2 * time.Millisecond):
		}
		open, err := pipelinetest.Listening(c.Process.Pid)
		if err != nil {
			continue // it ends
		}
		if looks++; len(open) > 0 {
			found(open)
			return looks, <-ended
		}
	}
}
