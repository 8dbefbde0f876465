package study

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/counts"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

// searched returns a workspace with a graph of random facts over a chain of entities, in the
// inductive setting with an inference graph too.
func searched(t *testing.T, seed uint64, inductive bool) string {
	t.Helper()
	workspace := t.TempDir()
	arguments := []string{"--workspace", workspace, "--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(seed, "e", 100))}
	if inductive {
		arguments = append(arguments, "--inference", pipelinetest.Dataset(t, pipelinetest.Chain(seed+100, "o", 100)))
	}
	pipelinetest.Succeed(t, preprocess.Pipeline(), arguments...)
	return workspace
}

// TestSources searches from the sources of queries, and from all entities, as far as --max_hops.
func TestSources(t *testing.T) {
	workspace := searched(t, 1, true)
	folder := filepath.Join(workspace, "distances", "test")
	size := map[string]int{}
	for _, sources := range []string{"queries", "all"} {
		pipelinetest.Succeed(t, Distances(), "--workspace", workspace, "--split", "test", "--sources", sources, "--max_hops", "4", "--force")
		d, err := counts.ReadDistribution(t.Context(), folder)
		if err != nil || d.Split != "test" || d.Queries == 0 || len(d.ByDistance) < 5 || d.ByDistance["5"] > 0 {
			t.Errorf("distribution %+v, error %v", d, err)
		}
		size[sources] = len(pipelinetest.Read(t, folder, "distances-00000-of-00001.arrow"))
	}
	if size["queries"] >= size["all"] {
		t.Errorf("the tables have %v bytes", size)
	}
}

func TestDistancesMistakes(t *testing.T) {
	workspace := searched(t, 2, false)
	good := []string{"--workspace", workspace, "--split", "test"}
	pipelinetest.Succeed(t, Distances(), good...)
	tests := map[string]struct {
		arguments []string
		code      int
		says      string
	}{
		"again":                 {good, 0, ""},
		"other hops":            {append(good, "--max_hops", "5"), command.ExitFailure, "max_hops is 6 there, 5 here"},
		"split":                 {append(good, "--split", "tests"), command.ExitUsage, "--split"},
		"sources":               {append(good, "--sources", "some"), command.ExitUsage, "--sources"},
		"no hops":               {append(good, "--max_hops", "0"), command.ExitUsage, "--max_hops is 0"},
		"more hops than 4 bits": {append(good, "--max_hops", "15"), command.ExitUsage, "--max_hops is 15"},
		"no graph":              {[]string{"--workspace", t.TempDir()}, command.ExitFailure, "go run ./pipelines/preprocess"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := pipelinetest.Run(t, Distances(), test.arguments...)
			if code != test.code || !strings.Contains(stderr, test.says) || (code != 0 && strings.Count(stderr, "\n") != 1) {
				t.Errorf("exit %d, %q: want %d and a line that says %q", code, stderr, test.code, test.says)
			}
		})
	}
}

// TestStale holds that distances of a graph that was made again with other data are not taken
// for current ones.
func TestStale(t *testing.T) {
	workspace, other := searched(t, 4, false), searched(t, 5, false)
	pipelinetest.Succeed(t, Distances(), "--workspace", workspace)
	pipelinetest.Remove(t, filepath.Join(workspace, "graph"))
	if err := os.Rename(filepath.Join(other, "graph"), filepath.Join(workspace, "graph")); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Fail(t, Distances(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"was made from another", "--force"}},
		"--workspace", workspace)
	if code, _, stderr := pipelinetest.Run(t, Distances(), "--workspace", workspace, "--force"); code != 0 {
		t.Error(stderr)
	}
}

func TestSplitWithoutQueries(t *testing.T) {
	folder, workspace := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"train.txt": "a\tr\tb\n", "valid.txt": "nothing\n", "test.txt": "a\tr\tb\n"} {
		pipelinetest.Write(t, filepath.Join(folder, name), text)
	}
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", workspace, "--dataset", folder, "--on_bad_line", "reject")
	code, _, stderr := pipelinetest.Run(t, Distances(), "--workspace", workspace, "--split", "valid")
	if code != command.ExitFailure || !strings.HasPrefix(stderr, "--split valid has no queries") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
