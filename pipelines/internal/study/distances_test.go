package study

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"

	"tagnet/formats/hop"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/stages/encode"
	"tagnet/stages/study"
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

// TestTablesAndDistribution compares every row with a search from its source alone.
func TestTablesAndDistribution(t *testing.T) {
	for _, inductive := range []bool{false, true} {
		workspace := searched(t, 1, inductive)
		loaded, err := encode.Load(t.Context(), filepath.Join(workspace, "graph"))
		if err != nil {
			t.Fatal(err)
		}
		for _, split := range kg.Splits {
			for _, sources := range []string{"queries", "all"} {
				t.Run(fmt.Sprint(split, " ", sources, " inductive ", inductive), func(t *testing.T) {
					pipelinetest.Succeed(t, Distances(), "--workspace", workspace, "--split", split, "--sources", sources, "--max_hops", "4", "--force")
					compare(t, loaded, filepath.Join(workspace, "distances", split), split, sources == "all")
				})
			}
		}
	}
}

func compare(t *testing.T, loaded *kg.KG, folder, split string, all bool) {
	t.Helper()
	ctx := context.Background()
	g := loaded.Of(split).Graph
	queries, err := loaded.Queries(ctx, split)
	if err != nil {
		t.Fatal(err)
	}
	read := map[int32][]byte{}
	file, err := os.Open(filepath.Join(folder, "distances-00000-of-00001.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	table, err := ipc.NewFileReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for batch := range table.NumRecords() {
		record, err := table.RecordAt(batch)
		if err != nil {
			t.Fatal(err)
		}
		for i, source := range record.Column(0).(*array.Int32).Int32Values() {
			read[source] = record.Column(1).(*array.FixedSizeBinary).Value(i)
		}
	}
	searcher := graph.NewSearcher(g)
	want, got := make([]uint8, g.Entities), make([]uint8, g.Entities)
	rows, byDistance := 0, map[string]int64{"1": 0, "2": 0, "3": 0, "4": 0, "unreached": 0}
	for source := range int32(g.Entities) {
		ofSource := kg.OfSource(queries, source)
		packed, found := read[source]
		if found != (all || len(ofSource) > 0) {
			t.Fatalf("source %d: found is %v", source, found)
		}
		if !found {
			continue
		}
		rows++
		tables.Unpack(packed, got)
		searcher.Search(source, 4, graph.Query{}, want)
		if !slices.Equal(got, want) {
			t.Fatalf("source %d: %v, want %v", source, got, want)
		}
		for _, q := range ofSource {
			at := fmt.Sprint(want[q.Answer])
			if want[q.Answer] == hop.Unreached {
				at = "unreached"
			}
			byDistance[at]++
		}
	}
	if rows == 0 || len(read) != rows {
		t.Errorf("%d rows, want %d", len(read), rows)
	}
	d, err := counts.ReadDistribution(ctx, folder)
	if err != nil {
		t.Fatal(err)
	}
	if d.Split != split || d.Queries != int64(len(queries)) || fmt.Sprint(d.ByDistance) != fmt.Sprint(byDistance) {
		t.Errorf("distribution %+v, want %d queries, %v", d, len(queries), byDistance)
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

// TestDamagedGraph holds that a graph with a flipped byte, or without a file, is not used.
func TestDamagedGraph(t *testing.T) {
	workspace := searched(t, 3, false)
	path := filepath.Join(workspace, "graph", "entities.arrow")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 4
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		pipelinetest.Fail(t, Distances(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"entities.arrow", "go run ./pipelines/preprocess", "--force"}}, "--workspace", workspace)
		if left, err := filepath.Glob(filepath.Join(workspace, "distances", "*")); err != nil || len(left) > 0 {
			t.Errorf("left: %v %v", left, err)
		}
	}
	check()
	pipelinetest.Remove(t, path)
	check()
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
	pipelinetest.Fail(t, Distances(), pipelinetest.Failure{Code: command.ExitFailure, Says: []string{"was made from another", "--force"}}, "--workspace", workspace)
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

// TestSameBytesInAnyRun holds that a table's bytes do not depend on how threads took turns.
func TestSameBytesInAnyRun(t *testing.T) {
	command.InitBeam()
	workspace := searched(t, 6, false)
	params := study.SearchParams{Graph: filepath.Join(workspace, "graph"), Split: "train", Hops: 5}
	loaded, err := encode.Load(t.Context(), params.Graph)
	if err != nil {
		t.Fatal(err)
	}
	entities := loaded.Train.Graph.Entities
	var want []byte
	for i := range 3 {
		params.Folder = fmt.Sprintf("%s/%d", t.TempDir(), i)
		p := BuildDistances(everyEntity(entities), entities, params) // one table
		pipelinetest.RunBeam(t, p)
		got, err := os.ReadFile(filepath.Join(params.Folder, "distances-00000-of-00001.arrow"))
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Error("the bytes differ from run to run")
		}
	}
}
