package predict_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/formats/workspace/tables"
	"tagnet/model/answer"
	"tagnet/model/answer/workload"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/model/learn"
	"tagnet/model/weights/configuration"
	"tagnet/stages/encode"
	"tagnet/stages/predict"
	"tagnet/stages/stagetest"
)

// job is a transform of the package with what it reads and the tables that it writes.
type job struct {
	split   string
	queries workload.Params
	table   []graph.Query // of a user
	lists   *tables.Lists
	model   func(*predict.Params)
	tables  []string
	shards  int
	lines   int // of the text, at least
}

// jobs returns the evaluations by each protocol, answers to the queries of a file and of relations, explained ones,
// triples and pairs.
func jobs() map[string]job {
	var queries, triples, pairs []graph.Query
	for i := range int32(12) {
		queries = append(queries, graph.Query{Source: i * 7 % 20, Relation: i % 4, Answer: graph.None})
		triples = append(triples, graph.Query{Source: 5 * (i % 4), Relation: i % 3, Answer: (7*i + 1) % 20})
		pairs = append(pairs, graph.Query{Source: 5 * (i % 4), Answer: (7*i + 1) % 20})
	}
	best := func(p *predict.Params) { p.Best = 5 }
	withKnown := func(p *predict.Params) { p.Best, p.Queries.WithKnown = 5, true } // known answers are within reach, and so explained
	explained := func(p *predict.Params) { p.Best, p.Queries.WithKnown, p.Queries.Paths = 5, true, 10 }
	answers, triplesTables := []string{predict.AnswersTable}, []string{predict.TriplesTable}
	evaluated := []string{predict.RankingsTable, predict.PredictionsTable}
	return map[string]job{
		"evaluate":       {split: "test", queries: workload.Params{Best: 5}, model: best, tables: evaluated, shards: 18},
		"valid-and-test": {split: "test", queries: workload.Params{Best: 5, Protocol: metrics.ValidAndTest}, model: best, tables: evaluated, shards: 33},
		"grail":          {split: "test", queries: workload.Params{Best: 5, Protocol: metrics.GraIL, Seed: 5}, model: best, tables: evaluated, shards: 18},
		"queries": {split: kg.All, table: queries, queries: workload.Params{Best: 5, WithKnown: true}, model: withKnown, tables: answers, shards: 12,
			lines: 61},
		"explained": {
			split: kg.All, table: queries[:6], queries: workload.Params{Best: 5, WithKnown: true, Paths: 10}, model: explained,
			tables: append(answers, predict.ExplanationsTable), shards: 6, lines: 13,
		},
		"relations": {
			split: kg.All, lists: &tables.Lists{Sources: []int32{3, 5, 8, 12, 13, 19}, Candidates: []int32{1, 2, 4, 9, 11, 16, 18}},
			queries: workload.Params{Best: 5, WithKnown: true, Ask: workload.Ask{Relations: []int32{0, 1, 4}}}, model: withKnown, tables: answers, shards: 18,
			lines: 1 + 6*3*5,
		},
		"triples": {split: kg.All, table: triples, queries: workload.Params{TableKind: workload.GivenTriples}, tables: triplesTables, shards: 12, lines: 13},
		"pairs":   {split: kg.All, table: pairs, queries: workload.Params{TableKind: workload.GivenPairs}, tables: triplesTables, shards: 12, lines: 25},
	}
}

// run runs the job in shards of some work, and returns what it writes into a folder.
func (j job) run(t *testing.T, graphURL, checkpoints, to string, work float64, threads int) map[string]string {
	t.Helper()
	queries := j.queries
	queries.Graph, queries.Split, queries.Work = graphURL, j.split, work
	params := predict.Params{Model: predict.WorkerModel{Checkpoints: checkpoints, Checkpoint: "epoch-001", Threads: threads}}
	must := func(err error) {
		if t.Helper(); err != nil {
			t.Fatal(err)
		}
	}
	if j.table != nil {
		queries.Queries = to + "-queries"
		must(kg.WriteQueries(t.Context(), queries.Queries, j.table))
	}
	if j.lists != nil {
		queries.Ask.Lists, params.Candidates = to+"-lists", to+"-lists"
		must(tables.WriteLists(t.Context(), queries.Ask.Lists, *j.lists))
	}
	if j.split == kg.All {
		loaded, err := encode.Load(t.Context(), graphURL)
		must(err)
		view, err := loaded.On(t.Context(), j.split)
		must(err)
		mined, url, unwritten, err := answer.Rules(t.Context(), view.Graph, threads, nil, to+"-rules")
		must(errors.Join(err, unwritten))
		params.Rules = predict.Rules{URL: url, Checksum: mined.Checksum}
	}
	params.Queries = queries
	if j.model != nil {
		j.model(&params)
	}
	must(stagetest.Run(t, func(s beam.Scope) {
		switch asked := (predict.AskParams{Params: params, Relations: 2, Folder: to}); {
		case j.split != kg.All:
			predict.Evaluate(s, predict.EvaluateParams{Params: params, Folder: to})
		case queries.TableKind == workload.GivenQueries:
			predict.Answers(s, asked)
		default:
			predict.Triples(s, asked)
		}
	}))
	return storagetest.Files(t, to)
}

// trained trains a small model for an epoch and returns the folder of its checkpoint, epoch-001.
func trained(t *testing.T, k *kg.KG) string {
	t.Helper()
	run := learn.Run{Checkpoints: storagetest.Memory(t) + "/checkpoints", History: storagetest.Memory(t) + "/training.jsonl",
		Configuration: configuration.Default(), Threads: 2}
	c := &run.Configuration
	c.Layers, c.Dim, c.Negatives, c.Epochs = 2, 4, 2, 1
	data, err := learn.NewData(t.Context(), k)
	if err == nil {
		_, err = learn.Train(t.Context(), run, data, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return run.Checkpoints
}

// TestShardsChangeNothing runs each job in one shard and in a shard for each query, with other threads: texts, metrics
// and rows are equal. A shard that is answered twice, as one of a killed worker is, gives the same parts.
func TestShardsChangeNothing(t *testing.T) {
	graphURL, k := stagetest.Graph(t, 20, 1)
	checkpoints := trained(t, k)
	for name, j := range jobs() {
		t.Run(name, func(t *testing.T) {
			to := storagetest.Memory(t)
			whole, cut := j.run(t, graphURL, checkpoints, to+"/whole", 0, 1), j.run(t, graphURL, checkpoints, to+"/cut", 1<<60, 3)
			parts := 0
			for file, text := range cut {
				switch {
				case file == predict.AnsweredFile: // queries in the other direction are shared within a shard
				case !strings.HasSuffix(file, ".parquet"):
					if text != whole[file] || strings.HasSuffix(file, ".tsv") && strings.Count(text, "\n") < j.lines {
						t.Errorf("%s is\n%s\nwant %d lines and more:\n%s", file, text, j.lines, whole[file])
					}
				case strings.HasSuffix(file, fmt.Sprintf("-of-%05d.parquet", j.shards)):
					parts++
				}
			}
			if parts != len(j.tables)*j.shards {
				t.Errorf("%d parts in %d files, want %d of %d tables", parts, len(cut), j.shards, len(j.tables))
			}
			if j.tables[0] == predict.RankingsTable {
				same[parquet.Ranking](t, to, predict.RankingsTable)
				same[parquet.Prediction](t, to, predict.PredictionsTable)
			}
			url := parquet.PartFile(storage.Join(to, "cut", j.tables[0]), 1, j.shards)
			if err := storage.WriteFile(t.Context(), url, []byte("what a killed worker left")); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(cut, j.run(t, graphURL, checkpoints, to+"/cut", 1<<60, 2)); diff != "" {
				t.Errorf("again (-first +second):\n%.2000s", diff)
			}
		})
	}
}

// same compares the rows of a table that was written as a whole with those of many shards.
func same[R parquet.Row](t *testing.T, to, table string) {
	t.Helper()
	if diff := cmp.Diff(stagetest.Rows[R](t, storage.Join(to, "whole", table)), stagetest.Rows[R](t, storage.Join(to, "cut", table))); diff != "" {
		t.Errorf("%s (-whole +shards):\n%s", table, diff)
	}
}
