package pipelinetest

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"

	"tagnet/pipelines/internal/cli/command"
)

// asPipeline in the environment makes a test binary run its pipeline instead of its tests.
const asPipeline = "TAGNET_TEST_PIPELINE"

// Main runs the tests of a package and returns the exit code for TestMain. In a process that
// Command made it runs the pipeline instead, and does not return.
func Main(m *testing.M, p command.Pipeline) int {
	hideDevices()
	if os.Getenv(asPipeline) != "" {
		command.Main(p)
	}
	return withTemplates(m.Run)
}

// Command returns the pipeline of the package's Main as a process that has not been started. Its
// temporary files go into a folder of the test, since a killed process leaves them behind.
func Command(t testing.TB, arguments ...string) *exec.Cmd {
	t.Helper()
	c := exec.Command(os.Args[0], arguments...)
	c.Env = append(os.Environ(), asPipeline+"=1", "TMPDIR="+t.TempDir())
	return c
}

// Kill runs the pipeline of the package's Main as a process and kills it after a time, unless it
// has ended by then. It ends the test if the process fails by itself.
func Kill(t testing.TB, after time.Duration, arguments ...string) (killed bool, output string) {
	t.Helper()
	c := Command(t, arguments...)
	var text bytes.Buffer
	c.Stdout, c.Stderr = &text, &text
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { c.Process.Kill() })
	defer timer.Stop()
	err := c.Wait()
	if err != nil && c.ProcessState.Exited() {
		t.Fatalf("%v\n%s", err, text.String())
	}
	return err != nil, text.String()
}
