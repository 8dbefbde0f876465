package study

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
)

// leastSaid returns the fewest MiB that a refusal names.
func leastSaid(t *testing.T, stderr string) int {
	t.Helper()
	_, rest, found := strings.Cut(stderr, "takes at least ")
	least, err := strconv.Atoi(strings.Fields(rest + " ")[0])
	if !found || err != nil {
		t.Fatalf("no least in %q", stderr)
	}
	return least
}

// TestLeastMemory holds that a budget too small is refused with the least that does.
func TestLeastMemory(t *testing.T) {
	root := searched(t, 8, false)
	runWith := func(memory int) (int, string) {
		code, _, stderr := pipelinetest.Run(t, Distances(), "--workspace", root, "--split", "test", "--force", "--memory", fmt.Sprint(memory))
		return code, stderr
	}
	code, stderr := runWith(1)
	if code != command.ExitUsage || !strings.HasPrefix(stderr, "--memory 1 is too small: ") || strings.Count(stderr, "\n") != 1 {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	least := leastSaid(t, stderr)
	if code, stderr := runWith(least - 2); code != command.ExitUsage {
		t.Errorf("less than the least: exit %d, %q", code, stderr)
	}
	if left, err := filepath.Glob(filepath.Join(root, "distances", "*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v %v", left, err)
	}
	if code, stderr := runWith(least); code != 0 {
		t.Errorf("the least that would do does not: exit %d, %q", code, stderr)
	}
}

// TestRefusedBudgetKeepsWhatIsThere holds that --force removes nothing before the budget is known
// to do.
func TestRefusedBudgetKeepsWhatIsThere(t *testing.T) {
	root := searched(t, 8, false)
	arguments := []string{"--workspace", root, "--split", "test"}
	pipelinetest.Succeed(t, Distances(), arguments...)
	code, _, stderr := pipelinetest.Run(t, Distances(), append(arguments, "--force", "--memory", "1")...)
	if code != command.ExitUsage || !strings.HasPrefix(stderr, "--memory 1 is too small: ") {
		t.Fatalf("exit %d, %q", code, stderr)
	}
	if _, err := workspace.New(root).Require(context.Background(), workspace.DistancesFolder("test"), workspace.Command{}); err != nil {
		t.Error(err)
	}
}
