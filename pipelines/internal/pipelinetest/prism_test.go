package pipelinetest_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/discover"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/train"
)

// TestPrismGivesTheLocalBytes runs every pipeline in this process, where no element is encoded, and on Prism as a job
// server, which encodes all and divides them among several bundles, and compares the files. Prism listens on all
// addresses and runs programs for whoever reaches it: it is started only if TAGNET_PRISM says so.
func TestPrismGivesTheLocalBytes(t *testing.T) {
	if os.Getenv("TAGNET_PRISM") == "" {
		t.Skip("it opens a port to all: TAGNET_PRISM=1 runs it")
	}
	all := append(steps(t),
		step{train.Pipeline, []string{"--run", "rounds", "--workers", "2", "--local_steps", "3", "--dim", "4", "--layers", "2", "--negatives", "4",
			"--batch_size", "32", "--epochs", "2"}},
		step{ask.Pipeline, []string{"--relation", "next"}},
		step{discover.Pipeline, []string{"--relation", "next", "--explain"}})
	outer := t.TempDir()
	here, there := filepath.Join(outer, "here", "w"), filepath.Join(outer, "there", "w")
	want := reference(t, here, all)
	pipelinetest.ResetFlags(t, "runner", "endpoint", "environment_type")
	flags := []string{"--runner", "universal", "--endpoint", startPrism(t), "--environment_type", "LOOPBACK"}
	for i, s := range all {
		s.arguments = append(s.arguments, flags...)
		if code, stderr := s.run(t, there); code != command.ExitOK {
			t.Fatalf("%s: exit code %d: %s", s.pipeline().Name, code, stderr)
		}
		pipelinetest.Same(t, untimed(pipelinetest.Files(t, there)), untimed(want[i+1]))
	}
}

// startPrism starts Prism as a job server, which ends with this process, and returns its endpoint.
func startPrism(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	if _, err := prism.CreateJobServer(t.Context(), prism.Options{Port: port}); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("localhost:%d", port)
}
