package study

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
)

// prepared returns a workspace with a graph of random facts over a chain of entities, in the
// inductive setting with an inference graph too.
func prepared(t *testing.T, inductive bool) string {
	t.Helper()
	return pipelinetest.Template(t, fmt.Sprint("inductive-", inductive), func(workspace string) {
		arguments := []string{"--workspace", workspace, "--dataset", pipelinetest.Dataset(t, pipelinetest.Chain(3, "e", 40))}
		if inductive {
			arguments = append(arguments, "--inference", pipelinetest.Dataset(t, pipelinetest.Chain(4, "o", 40)))
		}
		pipelinetest.Succeed(t, preprocess.Pipeline(), arguments...)
	})
}

// TestWhatIsCounted counts as flags say, and without --remove what a training removes.
func TestWhatIsCounted(t *testing.T) {
	workspace := prepared(t, true)
	for _, test := range []struct{ split, flags, remove string }{
		{"test", "", configuration.RemoveNone}, {"train", "", configuration.RemoveTriple}, {"train", "--remove one_hop --reach 9", configuration.RemoveOneHop},
	} {
		arguments := append(strings.Fields(test.flags), "--workspace", workspace, "--split", test.split, "--layers", "4,2", "--deltas", "0,1,2,6", "--force")
		out := pipelinetest.Succeed(t, Messages(), arguments...)
		s, err := counts.ReadSummary(t.Context(), filepath.Join(workspace, "runs/main/messages", test.split))
		if err != nil || s.Split != test.split || s.Remove != test.remove || len(s.Configurations) != 8 || s.Configurations[1].Delta != 1 {
			t.Errorf("%+v: error %v, summary %+v", test, err, s)
		}
		if within := strings.Contains(out, "each through at most 9 entities"); within != (s.Reach == 9) || within != strings.Contains(test.flags, "--reach") {
			t.Errorf("%+v: a reach of %d: %s", test, s.Reach, out)
		}
	}
}

func TestMessagesMistakes(t *testing.T) {
	workspace := prepared(t, false)
	for name, test := range map[string]struct {
		arguments []string
		code      int
		says      string
	}{
		"no layers":       {[]string{"--layers", "0"}, command.ExitUsage, "--layers"},
		"many layers":     {[]string{"--layers", "15"}, command.ExitUsage, "--layers"},
		"negative delta":  {[]string{"--deltas", "-1"}, command.ExitUsage, "--deltas"},
		"no number":       {[]string{"--deltas", "1,two"}, command.ExitUsage, "--deltas"},
		"twice":           {[]string{"--layers", "3,3"}, command.ExitUsage, "repeated"},
		"empty list":      {[]string{"--layers", ""}, command.ExitUsage, "--layers"},
		"split":           {[]string{"--split", "all"}, command.ExitUsage, "--split"},
		"remove":          {[]string{"--split", "test", "--remove", "triple"}, command.ExitUsage, "--remove"},
		"unknown removal": {[]string{"--split", "train", "--remove", "all"}, command.ExitUsage, "--remove"},
		"memory":          {[]string{"--memory", "0"}, command.ExitUsage, "--memory is 0"},
		"no graph":        {[]string{"--workspace", t.TempDir()}, command.ExitFailure, "go run ./pipelines/preprocess"},
	} {
		t.Run(name, func(t *testing.T) {
			pipelinetest.Fail(t, Messages(), pipelinetest.Failure{Code: test.code, Says: []string{test.says}},
				append([]string{"--workspace", workspace}, test.arguments...)...)
		})
	}
}

// TestMessagesAgain holds that a second run does nothing, other lists are refused, and a run over an
// interrupted one ends in the same bytes.
func TestMessagesAgain(t *testing.T) {
	workspace := prepared(t, false)
	arguments := []string{"--workspace", workspace, "--layers", "3"}
	pipelinetest.Succeed(t, Messages(), arguments...)
	folder := filepath.Join(workspace, "runs/main/messages", "test")
	want := pipelinetest.Files(t, folder)
	if len(want) != 3 {
		t.Errorf("%d files, want counts, a summary and a manifest", len(want))
	}
	code, out, _ := pipelinetest.Run(t, Messages(), arguments...)
	if code != 0 || !strings.Contains(out, "is complete") {
		t.Errorf("exit %d: %s", code, out)
	}
	// Both comparisons stand side by side: with all messages, and with those that are not empty.
	s, err := counts.ReadSummary(context.Background(), folder)
	if err != nil {
		t.Fatal(err)
	}
	c := s.Configurations[1]
	saved := func(of int64) string { return fmt.Sprintf("%.2f%%", 100*(1-float64(c.Kept-c.KeptEmpty)/float64(of))) }
	row := fmt.Sprintf("%d %s %d %s", c.NBFNet, saved(c.NBFNet), c.NBFNet-c.KeptEmpty-c.PrunedEmpty, saved(c.NBFNet-c.KeptEmpty-c.PrunedEmpty))
	if words := strings.Join(strings.Fields(strings.ReplaceAll(out, ",", "")), " "); !strings.Contains(words,
		"sent of all saved of not empty saved kept saved") || !strings.Contains(words, row) {
		t.Errorf("the table lacks %q: %s", row, out)
	}
	pipelinetest.Fail(t, Messages(), pipelinetest.Failure{Code: command.ExitFailure,
		Says: []string{"deltas is [0,1,2,3,4,5] there, [1] here", " --deltas 1 --layers 3 --force"}}, append(arguments, "--deltas", "1")...)
	if err := os.Rename(filepath.Join(folder, "manifest.json"), filepath.Join(folder, lock.FileName)); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Write(t, parquet.PartFile(filepath.Join(folder, counts.CountsTable), 0, 1), "half")
	pipelinetest.Succeed(t, Messages(), arguments...)
	pipelinetest.Same(t, pipelinetest.Files(t, folder), want)
}
