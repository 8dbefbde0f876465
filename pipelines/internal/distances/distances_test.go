package distances

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tagnet/formats/tables"
	modelgraph "tagnet/model/graph"
	"tagnet/model/kg"
	"tagnet/model/search"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/progress"
	"tagnet/stages/distances"
	"tagnet/stages/graph"
)

func run(p command.Pipeline, arguments ...string) (code int, out, stderr string) {
	var o, e bytes.Buffer
	code = command.Run(context.Background(), p, arguments, &o, &e)
	return code, o.String(), e.String()
}

// prepared is a workspace with the graph of random facts over a long chain of entities, and an
// inference graph of others.
func prepared(t *testing.T, seed uint64, inductive bool) string {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 9))
	folder := func(prefix string) string {
		dir := t.TempDir()
		for split, n := range map[string]int{"train": 150, "valid": 20, "test": 30} {
			var text strings.Builder
			for range n {
				h := random.IntN(100)
				fmt.Fprintf(&text, "%s%03d\tr%d\t%s%03d\n", prefix, h, random.IntN(2), prefix, (h+random.IntN(5))%100)
			}
			if split == "train" {
				fmt.Fprintf(&text, "%s000\tr0\t%s000\n%s000\tr1\t%s001\n", prefix, prefix, prefix, prefix)
			}
			if err := os.WriteFile(filepath.Join(dir, split+".txt"), []byte(text.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	workspace := t.TempDir()
	arguments := []string{"--workspace", workspace, "--dataset", folder("e")}
	if inductive {
		arguments = append(arguments, "--inference", folder("o"))
	}
	if code, _, stderr := run(preprocess.Pipeline(), arguments...); code != 0 {
		t.Fatal(stderr)
	}
	return workspace
}

// TestTablesAndDistribution compares every row with a search from its source alone.
func TestTablesAndDistribution(t *testing.T) {
	for _, inductive := range []bool{false, true} {
		workspace := prepared(t, 1, inductive)
		loaded, err := graph.Load(filepath.Join(workspace, "graph"))
		if err != nil {
			t.Fatal(err)
		}
		for _, split := range kg.Splits {
			for _, sources := range []string{"queries", "all"} {
				t.Run(fmt.Sprint(split, " ", sources, " inductive ", inductive), func(t *testing.T) {
					code, _, stderr := run(Pipeline(), "--workspace", workspace, "--split", split, "--sources", sources, "--max_hops", "4", "--force")
					if code != 0 {
						t.Fatal(stderr)
					}
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
	reader, err := tables.OpenDistances(ctx, filepath.Join(folder, "distances-00000-of-00001.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	searcher := search.NewSearcher(g)
	want, got := make([]uint8, g.Entities), make([]uint8, g.Entities)
	rows, counts := 0, map[string]int64{"1": 0, "2": 0, "3": 0, "4": 0, "unreached": 0}
	for source := range int32(g.Entities) {
		asked := distances.QueriesOf(queries, source)
		found, err := reader.Row(source, got)
		if err != nil {
			t.Fatal(err)
		}
		if found != (all || len(asked) > 0) {
			t.Fatalf("source %d: found is %v", source, found)
		}
		if !found {
			continue
		}
		rows++
		searcher.Search(source, 4, modelgraph.Removal{}, want)
		if !slices.Equal(got, want) {
			t.Fatalf("source %d: %v, want %v", source, got, want)
		}
		for _, q := range asked {
			at := fmt.Sprint(want[q.Answer])
			if want[q.Answer] == search.Unreached {
				at = "unreached"
			}
			counts[at]++
		}
	}
	if rows == 0 || reader.Rows() != rows {
		t.Errorf("%d rows, want %d", reader.Rows(), rows)
	}
	d, err := distances.ReadDistribution(ctx, folder)
	if err != nil {
		t.Fatal(err)
	}
	if d.Split != split || d.Queries != int64(len(queries)) || fmt.Sprint(d.ByDistance) != fmt.Sprint(counts) {
		t.Errorf("distribution %+v, want %d queries, %v", d, len(queries), counts)
	}
}

func TestMistakes(t *testing.T) {
	workspace := prepared(t, 2, false)
	good := []string{"--workspace", workspace, "--split", "test"}
	if code, _, stderr := run(Pipeline(), good...); code != 0 {
		t.Fatal(stderr)
	}
	tests := map[string]struct {
		arguments []string
		code      int
		says      string
	}{
		"again":                 {good, 0, ""},
		"other hops":            {append(good, "--max_hops", "5"), command.ExitFailure, "max_hops is 6 there, 5 here"},
		"split":                 {append(good, "--split", "tests"), command.ExitUsage, "--split"},
		"sources":               {append(good, "--sources", "some"), command.ExitUsage, "--sources"},
		"method":                {append(good, "--method", "magic"), command.ExitUsage, "--method"},
		"no hops":               {append(good, "--max_hops", "0"), command.ExitUsage, "--max_hops is 0"},
		"more hops than 4 bits": {append(good, "--max_hops", "15"), command.ExitUsage, "--max_hops is 15"},
		"no graph":              {[]string{"--workspace", t.TempDir()}, command.ExitFailure, "go run ./pipelines/preprocess"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := run(Pipeline(), test.arguments...)
			if code != test.code || !strings.Contains(stderr, test.says) || (code != 0 && strings.Count(stderr, "\n") != 1) {
				t.Errorf("exit %d, %q: want %d and a line that says %q", code, stderr, test.code, test.says)
			}
		})
	}
}

// TestDamagedGraph holds that a graph with a flipped byte, or without a file, is not used.
func TestDamagedGraph(t *testing.T) {
	workspace := prepared(t, 3, false)
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
		code, _, stderr := run(Pipeline(), "--workspace", workspace)
		if code != command.ExitFailure || !strings.Contains(stderr, "entities.arrow") || !strings.Contains(stderr, "go run ./pipelines/preprocess") || !strings.Contains(stderr, "--force") {
			t.Errorf("exit %d: %s", code, stderr)
		}
		if left, err := filepath.Glob(filepath.Join(workspace, "distances", "*")); err != nil || len(left) > 0 {
			t.Errorf("left: %v %v", left, err)
		}
	}
	check()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	check()
}

// TestStale holds that distances of a graph that was made anew with other data are not taken
// for current ones.
func TestStale(t *testing.T) {
	workspace, other := prepared(t, 4, false), prepared(t, 5, false)
	if code, _, stderr := run(Pipeline(), "--workspace", workspace); code != 0 {
		t.Fatal(stderr)
	}
	if err := os.RemoveAll(filepath.Join(workspace, "graph")); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(other, "graph"), filepath.Join(workspace, "graph")); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := run(Pipeline(), "--workspace", workspace)
	if code != command.ExitFailure || !strings.Contains(stderr, "was made from another") || !strings.Contains(stderr, "--force") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := run(Pipeline(), "--workspace", workspace, "--force"); code != 0 {
		t.Error(stderr)
	}
}

func TestSplitWithoutQueries(t *testing.T) {
	folder, workspace := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"train.txt": "a\tr\tb\n", "valid.txt": "nothing\n", "test.txt": "a\tr\tb\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if code, _, stderr := run(preprocess.Pipeline(), "--workspace", workspace, "--dataset", folder, "--on_bad_line", "reject"); code != 0 {
		t.Fatal(stderr)
	}
	code, _, stderr := run(Pipeline(), "--workspace", workspace, "--split", "valid")
	if code != command.ExitFailure || !strings.HasPrefix(stderr, "--split valid has no queries") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestSameBytesInAnyRun holds that a table's bytes do not depend on how threads took turns.
func TestSameBytesInAnyRun(t *testing.T) {
	command.InitBeam()
	workspace := prepared(t, 6, false)
	params := distances.SearchParams{Graph: filepath.Join(workspace, "graph"), Split: "train", Hops: 5}
	loaded, err := graph.Load(params.Graph)
	if err != nil {
		t.Fatal(err)
	}
	entities := loaded.Train.Graph.Entities
	var quiet bytes.Buffer
	e := &command.Environment{Out: &quiet, Err: &quiet, Progress: progress.New(&quiet, false)}
	var want []byte
	for i := range 3 {
		params.Folder = fmt.Sprintf("%s/%d", t.TempDir(), i)
		p, err := Build(everyEntity(entities), entities, params)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.RunBeam(context.Background(), p); err != nil {
			t.Fatal(err)
		}
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
