package ask

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/tables"
	"tagnet/model/answer/workload"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/predict"
)

// TestShardsChangeNothing answers the queries of a file, those of relations, with explanations, triples and pairs in one shard and in a shard for
// each query, with other threads: the texts are equal. A shard that is answered twice, as one of a killed worker is, gives the same parts.
func TestShardsChangeNothing(t *testing.T) {
	w, folder := scoringtest.Trained(t, "plain"), t.TempDir()
	var queries, triples, pairs []graph.Query
	for i := range int32(12) {
		queries = append(queries, graph.Query{Source: i * 7 % 40, Relation: i % 4, Answer: graph.None})
		triples = append(triples, graph.Query{Source: 5 * (i % 4), Relation: i % 3, Answer: (7*i + 1) % 60})
		pairs = append(pairs, graph.Query{Source: 5 * (i % 4), Answer: (7*i + 1) % 60})
	}
	some := tables.Lists{Sources: []int32{3, 5, 8, 13, 21, 34}, Candidates: []int32{1, 4, 9, 16, 25, 36, 49}}
	cases := map[string]struct {
		table  []graph.Query
		given  workload.Given
		paths  int
		shards int
		lines  int // of the text, at least
	}{
		"queries":   {table: queries, shards: 12, lines: 61},
		"explained": {table: queries[:6], paths: 10, shards: 6, lines: 13},
		"relations": {shards: 18, lines: 1 + 6*3*5},
		"triples":   {table: triples, given: workload.GivenTriples, shards: 12, lines: 13},
		"pairs":     {table: pairs, given: workload.GivenPairs, shards: 12, lines: 25},
	}
	for _, kind := range givenNames {
		if _, tried := cases[kind]; !tried {
			t.Errorf("no case of %s", kind)
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			run := func(kind string, work float64, threads int) map[string]string {
				t.Helper()
				to := filepath.Join(folder, name, kind)
				p := predict.AskParams{Relations: 2, Folder: to}
				p.Queries = workload.Params{Given: c.given, Work: work, Best: 5, Paths: c.paths}
				p.Queries.Graph, p.Queries.Split = filepath.Join(w, "graph"), kg.All
				p.Model = predict.Model{Checkpoints: filepath.Join(w, "runs/main/checkpoints"), Checkpoint: "epoch-003", Threads: threads}
				if c.given == workload.GivenQueries { // known answers are within reach, and so explained
					p.Best, p.Queries.WithKnown = 5, true
				}
				if p.Queries.Queries = filepath.Join(to, queriesFile); c.table == nil {
					p.Queries.Queries, p.Queries.Ask = "", workload.Ask{Lists: filepath.Join(to, listsFile), Relations: []int32{0, 1, 4}}
					p.Candidates = p.Queries.Ask.Lists
					if err := tables.WriteLists(t.Context(), p.Queries.Ask.Lists, some); err != nil {
						t.Fatal(err)
					}
				} else if err := kg.WriteQueries(t.Context(), p.Queries.Queries, c.table); err != nil {
					t.Fatal(err)
				}
				pipelinetest.RunBeam(t, Build(p))
				return pipelinetest.Files(t, to)
			}
			want, cut := run("whole", 0, 1), run("cut", 1<<60, 3)
			parts := 0
			for file, text := range cut {
				switch {
				case strings.HasSuffix(file, ".tsv"):
					pipelinetest.SameText(t, file, text, want[file])
					if n := strings.Count(text, "\n"); n < c.lines {
						t.Errorf("%s has %d lines, want %d at least", file, n, c.lines)
					}
				case strings.HasSuffix(file, fmt.Sprintf("-of-%05d.parquet", c.shards)):
					parts++
				}
			}
			if tables := 1 + min(1, c.paths); parts != tables*c.shards {
				t.Errorf("%d parts in %d files, want %d of %d tables", parts, len(cut), c.shards, tables)
			}
			table := map[workload.Given]string{workload.GivenQueries: predict.AnswersTable}[c.given]
			if table == "" {
				table = predict.TriplesTable
			}
			pipelinetest.Write(t, parquet.PartFile(filepath.Join(folder, name, "cut", table), 1, c.shards), "what a killed worker left")
			pipelinetest.Same(t, run("cut", 1<<60, 2), cut)
		})
	}
}
