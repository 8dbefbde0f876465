package distances

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/workspace"
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

// TestMethodByMemory holds that a budget too small is refused with the least that does, and that
// auto takes the method that the budget holds and says why.
func TestMethodByMemory(t *testing.T) {
	root := prepared(t, 8, false)
	runWith := func(method string, memory int) (int, string, string) {
		return pipelinetest.Run(t, Pipeline(), "--workspace", root, "--split", "test", "--force", "--method", method, "--memory", fmt.Sprint(memory))
	}
	leasts := map[string]int{}
	for _, method := range []string{worker, join, auto} {
		code, _, stderr := runWith(method, 1)
		if code != command.ExitUsage || !strings.HasPrefix(stderr, "--memory 1 is too small: ") || strings.Count(stderr, "\n") != 1 {
			t.Fatalf("%s: exit %d, %q", method, code, stderr)
		}
		leasts[method] = leastSaid(t, stderr)
		if code, _, stderr := runWith(method, leasts[method]-2); code != command.ExitUsage {
			t.Errorf("%s: less than the least: exit %d, %q", method, code, stderr)
		}
		if left, err := filepath.Glob(filepath.Join(root, "distances", "*")); err != nil || len(left) > 0 {
			t.Errorf("left: %v %v", left, err)
		}
		code, out, stderr := runWith(method, leasts[method])
		if code != 0 {
			t.Errorf("%s: the least that would do does not: exit %d, %q", method, code, stderr)
		}
		if says := strings.Contains(out, "method "); says != (method == auto) {
			t.Errorf("%s: it says %q", method, out)
		}
		pipelinetest.Remove(t, filepath.Join(root, "distances"))
	}
	if leasts[auto] != min(leasts[worker], leasts[join]) {
		t.Errorf("the leasts are %v", leasts)
	}
}

// TestRefusedBudgetKeepsWhatIsThere holds that --force removes nothing before the budget is known
// to do.
func TestRefusedBudgetKeepsWhatIsThere(t *testing.T) {
	root := prepared(t, 8, false)
	arguments := []string{"--workspace", root, "--split", "test"}
	pipelinetest.Succeed(t, Pipeline(), arguments...)
	for _, method := range []string{worker, join, auto} {
		code, _, stderr := pipelinetest.Run(t, Pipeline(), append(arguments, "--force", "--memory", "1", "--method", method)...)
		if code != command.ExitUsage || !strings.HasPrefix(stderr, "--memory 1 is too small: ") {
			t.Fatalf("%s: exit %d, %q", method, code, stderr)
		}
		if _, err := workspace.New(root).Require(context.Background(), workspace.DistancesFolder("test"), workspace.Command{}); err != nil {
			t.Errorf("%s: %v", method, err)
		}
	}
}

// TestAutoJoins holds that auto joins where a worker cannot hold the graph, in one line that
// has the numbers. The manifest says that there are more edges than there are.
func TestAutoJoins(t *testing.T) {
	command.InitBeam()
	ctx := context.Background()
	w := workspace.New(prepared(t, 9, false))
	m, err := w.Require(ctx, workspace.GraphFolder, workspace.Command{})
	if err != nil {
		t.Fatal(err)
	}
	e := pipelinetest.Environment()
	e.Workspace = w
	m.Rows["edges"] = 50_000_000
	for i, f := range m.Files {
		if kg.IsEdges(f.Name) {
			m.Files[i].Size = m.Rows["edges"] // as compressed as they may be
		}
	}
	for memory, want := range map[int64]string{600: join, 4000: worker} {
		f := &flags{split: "test", method: auto, hops: 3, memory: memory}
		c, err := f.choose(ctx, e, m, 60)
		if err != nil {
			t.Fatal(err)
		}
		if c.method != want || strings.Contains(c.why, "\n") || !strings.Contains(c.why, "method "+want) ||
			!strings.Contains(c.why, "50,000,000 edges") || !strings.Contains(c.why, fmt.Sprintf("--memory is %d", memory)) {
			t.Errorf("%d MiB: %s, it says %q", memory, c.method, c.why)
		}
		if most := c.params.SearchParams.Words; want == worker && most < 1 {
			t.Errorf("%d MiB: a thread searches from any number of sources at once", memory)
		}
	}
}
