package pipelinetest

import (
	"strings"
	"testing"

	"tagnet/pipelines/internal/cli/command"
)

// Plan checks that a pipeline with --plan and --force prints its step of that name, and changes no file of
// the workspace.
func Plan(t *testing.T, p command.Pipeline, workspace, step string, arguments ...string) {
	t.Helper()
	before := Files(t, workspace)
	out := Succeed(t, p, append(arguments, "--workspace", workspace, "--force", "--async=false", "--dry_run=false", "--plan")...)
	for _, text := range []string{"\njob ", step, "\nmemory ", "\ninput ", workspace + " can be written", "nothing was submitted"} {
		if !strings.Contains("\n"+out, text) {
			t.Errorf("no %q in %s", text, out)
		}
	}
	Same(t, Files(t, workspace), before)
}
