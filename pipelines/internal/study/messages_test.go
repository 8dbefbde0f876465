package study

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/configuration"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/encode"
	"tagnet/stages/study"
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

// TestCountsEqualCountingEdgeByEdge compares the sums, and the rows with the sums, for every
// split and every way of removing.
func TestCountsEqualCountingEdgeByEdge(t *testing.T) {
	for _, test := range []struct {
		split, remove string
		inductive     bool
	}{
		{"test", "", false}, {"valid", "", false}, {"train", "", false}, {"train", "one_hop", false}, {"train", "none", false},
		{"test", "", true}, {"valid", "none", true}, {"train", "triple", true},
	} {
		t.Run(fmt.Sprintf("%+v", test), func(t *testing.T) {
			workspace := prepared(t, test.inductive)
			arguments := []string{"--workspace", workspace, "--split", test.split, "--layers", "4,2", "--deltas", "0,1,2,6"}
			if test.remove != "" {
				arguments = append(arguments, "--remove", test.remove)
			}
			pipelinetest.Succeed(t, Messages(), arguments...)
			remove := test.remove
			if remove == "" {
				remove = configuration.RemoveNone
				if test.split == "train" {
					remove = configuration.RemoveTriple
				}
			}
			check(t, workspace, test.split, remove)
		})
	}
}

func check(t *testing.T, workspace, split, remove string) {
	t.Helper()
	ctx := context.Background()
	folder := filepath.Join(workspace, "runs/main/messages", split)
	l, err := encode.Load(t.Context(), filepath.Join(workspace, "graph"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := counts.ReadSummary(ctx, folder)
	if err != nil {
		t.Fatal(err)
	}
	queries, err := l.Queries(ctx, split)
	if err != nil {
		t.Fatal(err)
	}
	if s.Split != split || s.Queries != int64(len(queries)) || s.Edges != l.Of(split).Graph.Edges() || s.Remove != remove || len(s.Configurations) != 8 {
		t.Fatalf("summary %+v", s)
	}
	rows := scoringtest.Rows[parquet.MessageCount](t, filepath.Join(folder, counts.CountsTable))
	fromRows := map[[2]int]counts.Configuration{}
	for _, r := range rows {
		if s.Remove != configuration.RemoveNone { // the row is a sum over its queries
			r.Queries = 1
		}
		c := fromRows[[2]int{int(r.Layers), int(r.Delta)}]
		c.NBFNet += r.Queries * r.Edges
		c.Kept += r.Queries * r.Kept
		c.KeptEmpty += r.Queries * r.KeptEmpty
		c.PrunedEmpty += r.Queries * r.PrunedEmpty
		c.PrunedRedundant += r.Queries * r.PrunedRedundant
		fromRows[[2]int{int(r.Layers), int(r.Delta)}] = c
	}
	for _, got := range s.Configurations {
		want := counts.Configuration{Layers: got.Layers, Delta: got.Delta, Totals: countedWithin(t, l, split, got.Layers, got.Delta, l.Of(split).Graph.Entities, remove)}
		sum := fromRows[[2]int{got.Layers, got.Delta}]
		sum.Layers, sum.Delta = got.Layers, got.Delta
		if d := 1 - float64(want.Kept)/float64(want.NBFNet); !(got.Decrease-d <= 1e-12 && d-got.Decrease <= 1e-12) {
			t.Errorf("decrease %v, want %v", got.Decrease, d)
		}
		got.Decrease, got.DecreaseWithoutEmpty, got.KeptPerQuery, got.NBFNetPerQuery = 0, 0, 0, 0
		if got != want || sum != want {
			t.Errorf("summary %+v, rows %+v, want %+v", got, sum, want)
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
			pipelinetest.Fail(t, Messages(), pipelinetest.Failure{Code: test.code, Says: []string{test.says}}, append([]string{"--workspace", workspace}, test.arguments...)...)
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
	if words := strings.Join(strings.Fields(strings.ReplaceAll(out, ",", "")), " "); !strings.Contains(words, "sent of all saved of not empty saved kept saved") || !strings.Contains(words, row) {
		t.Errorf("the table lacks %q: %s", row, out)
	}
	pipelinetest.Fail(t, Messages(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"deltas is [0,1,2,3,4,5] there, [1] here", " --deltas 1 --layers 3 --force"}}, append(arguments, "--deltas", "1")...)
	if err := os.Rename(filepath.Join(folder, "manifest.json"), filepath.Join(folder, lock.FileName)); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Write(t, parquet.PartFile(filepath.Join(folder, counts.CountsTable), 0, 1), "half")
	pipelinetest.Succeed(t, Messages(), arguments...)
	pipelinetest.Same(t, pipelinetest.Files(t, folder), want)
}

// The number of shards changes no sum and no row, and a shard that is counted twice gives the same part.
func TestHowSourcesAreCutChangesNothing(t *testing.T) {
	graph := filepath.Join(prepared(t, false), "graph")
	sources, err := kg.SourcesOf(t.Context(), graph, "train")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", t.TempDir()) // Beam leaves a file behind in each run
	count := func(folder string, perShard, threads int) map[string]string {
		t.Helper()
		pipelinetest.RunBeam(t, BuildMessages(sources, perShard, study.CountParams{
			Graph: graph, Split: "train", Layers: []int{2, 3}, Deltas: []int{0, 2}, Remove: configuration.RemoveTriple, Folder: folder, Threads: threads,
		}))
		return pipelinetest.Files(t, folder)
	}
	sorted := func(folder string) []parquet.MessageCount {
		t.Helper()
		rows := scoringtest.Rows[parquet.MessageCount](t, filepath.Join(folder, counts.CountsTable))
		slices.SortStableFunc(rows, func(a, b parquet.MessageCount) int {
			return cmp.Or(cmp.Compare(a.Layers, b.Layers), cmp.Compare(a.Delta, b.Delta), cmp.Compare(a.Source, b.Source))
		})
		return rows
	}
	whole := t.TempDir()
	summary := count(whole, len(sources), 1)["summary.json"]
	for _, perShard := range []int{1, 7} {
		folder := t.TempDir()
		want := count(folder, perShard, 2)
		of := (len(sources) + perShard - 1) / perShard
		if len(want) != 1+of || want["summary.json"] != summary {
			t.Errorf("%d sources a shard: %d files, want %d; summary %s, want %s", perShard, len(want), 1+of, want["summary.json"], summary)
		}
		if diff := gocmp.Diff(sorted(whole), sorted(folder)); diff != "" {
			t.Errorf("%d sources a shard:\n%s", perShard, diff)
		}
		pipelinetest.Write(t, parquet.PartFile(filepath.Join(folder, counts.CountsTable), 1, of), "what a killed worker left")
		pipelinetest.Same(t, count(folder, perShard, 1), want)
	}
}
