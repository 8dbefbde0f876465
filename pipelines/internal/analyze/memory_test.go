package analyze

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestMemory holds that a budget that is too small for any step is refused with the least that is
// enough for all of them, before --force removes anything.
func TestMemory(t *testing.T) {
	dataset := pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 400))
	for _, given := range []bool{true, false} {
		t.Run(fmt.Sprint("dataset ", given), func(t *testing.T) {
			workspace := t.TempDir()
			arguments := []string{"--workspace", workspace, "--dataset", dataset, "--layers", "6,5,4"}
			pipelinetest.Succeed(t, Pipeline(), arguments...)
			if !given {
				arguments = append(arguments[:2], arguments[4:]...)
			}
			want := pipelinetest.Files(t, workspace)
			refused := func(memory int) string {
				t.Helper()
				line := pipelinetest.Fail(t, Pipeline(), pipelinetest.Failure{Code: command.ExitUsage, Begin: "--memory"},
					append(arguments, "--force", "--memory", fmt.Sprint(memory))...)
				pipelinetest.Same(t, pipelinetest.Files(t, workspace), want)
				return line
			}
			_, rest, _ := strings.Cut(refused(1), "; give --memory ")
			least, err := strconv.Atoi(strings.Fields(rest + " ")[0])
			if err != nil {
				t.Fatalf("no least budget in %q", rest)
			}
			refused(least - 2) // the least is rounded up
			pipelinetest.Succeed(t, Pipeline(), append(arguments, "--force", "--memory", fmt.Sprint(least))...)
			pipelinetest.Same(t, pipelinetest.Files(t, workspace), want)
		})
	}
}
