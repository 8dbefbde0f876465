package score

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/google/go-cmp/cmp"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer/evaluation"
	"tagnet/model/answer/workload"
	edges "tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/train"
	"tagnet/stages/evaluate"
	"tagnet/stages/score"
)

func metricsOf(t testing.TB, workspace, split string) metrics.Evaluation {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(workspace, "runs/main/evaluation", split, "metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m metrics.Evaluation
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// rowsOf returns the rows of all parts of a table.
func rowsOf[R parquet.Row](t testing.TB, table string) []R {
	t.Helper()
	var all []R
	err := parquet.EachPart(t.Context(), table, func(rows []R) error {
		all = append(all, rows...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestScore(t *testing.T) {
	for kind, entities := range map[string]int64{"plain": 60, "inductive": 40} {
		t.Run(kind, func(t *testing.T) {
			w := trained(t, kind)
			out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--top_k", "4")
			if !strings.Contains(out, "wrote ") || !strings.Contains(out, "next: ") || !strings.Contains(out, "Hits@10") {
				t.Errorf("output:\n%s", out)
			}
			m := metricsOf(t, w, "test")
			held := entities / 5
			want := 2 * (held - held/2)
			if m.Queries != want || m.ByDirection["head"].Queries != want/2 || m.ByDistance["2"].Queries != want ||
				m.ByRelation["skip"].Queries != want || m.Split != "test" || !strings.HasPrefix(m.Checkpoint, "epoch-00") || m.Distinct != want {
				t.Errorf("metrics %+v, want %d queries", m, want)
			}
			if m.Unreached != 0 || !(m.Pessimistic.MRR > 0.8) || m.Messages == 0 {
				t.Errorf("metrics %+v, want an MRR above 0.8", m.Summary)
			}
			// Nothing else is known to be skipped to, and held-out facts make a ring: each has one half of its links, or none.
			if m.Baselines == nil || !(m.Pessimistic.MRR > m.Baselines.Popularity.Pessimistic.MRR) || m.ByLinks["neither"].Queries != want {
				t.Errorf("baselines %+v, links %+v", m.Baselines, m.ByLinks)
			}
			checkRows(t, w, m, entities)
		})
	}
}

// checkRows holds the tables to the metrics.
func checkRows(t *testing.T, workspace string, m metrics.Evaluation, entities int64) {
	folder := filepath.Join(workspace, "runs/main/evaluation", "test")
	rankings := rowsOf[parquet.Ranking](t, filepath.Join(folder, "rankings"))
	if int64(len(rankings)) != m.Queries {
		t.Fatalf("%d rankings, want %d", len(rankings), m.Queries)
	}
	sum := 0.0
	for i, r := range rankings {
		sum += 1 / float64(r.RankPessimistic)
		// All other entities are candidates: nothing else is known to be skipped to.
		if r.Query != int64(i) || r.Distance != 2 || r.Relation != "skip" || r.Candidates != entities ||
			r.RankOptimistic > r.RankPessimistic || r.Source == r.Answer || len(r.Answer) != 4 {
			t.Errorf("ranking %+v", r)
		}
	}
	if mrr := sum / float64(len(rankings)); !(mrr-m.Pessimistic.MRR < 1e-12 && m.Pessimistic.MRR-mrr < 1e-12) {
		t.Errorf("the rankings' MRR is %g, the metrics' %g", mrr, m.Pessimistic.MRR)
	}
	predictions := rowsOf[parquet.Prediction](t, filepath.Join(folder, "predictions"))
	if int64(len(predictions)) != 4*m.Distinct {
		t.Fatalf("%d predictions, want %d", len(predictions), 4*m.Distinct)
	}
	for i, p := range predictions {
		if int(p.Position) != i%4+1 || i%4 > 0 && p.Score > predictions[i-1].Score ||
			p.Hops < -1 {
			t.Errorf("prediction %+v", p)
		}
	}
}

// Threads, memory and repetition change no byte.
func TestHowWorkIsSharedChangesNothing(t *testing.T) {
	w := trained(t, "plain")
	evaluation := filepath.Join(w, "runs/main/evaluation")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--threads", "1")
	want := pipelinetest.Files(t, evaluation)
	if len(want) != 4 {
		t.Fatalf("%d files, want rankings, predictions, metrics and a manifest", len(want))
	}
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w); !strings.Contains(out, "is complete") || strings.Contains(out, "wrote ") || strings.Count(out, "already exists: ") != 3 {
		t.Errorf("a second run says %q", out)
	}
	for _, more := range [][]string{{"--threads", "3"}, {"--memory", "300"}} {
		pipelinetest.Succeed(t, Pipeline(), append([]string{"--workspace", w, "--force"}, more...)...)
		pipelinetest.Same(t, pipelinetest.Files(t, evaluation), want)
	}
}

// Ranks of training queries, too, leave out what the other splits know.
func TestTrainingQueriesAreFilteredByAllSplits(t *testing.T) {
	folder, w := pipelinetest.Dataset(t, pipelinetest.Ring("e", 12)), filepath.Join(t.TempDir(), "workspace")
	pipelinetest.Write(t, filepath.Join(folder, "test.txt"), "e001\tskip\te007\n")
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", folder)
	pipelinetest.Succeed(t, train.Pipeline(), "--workspace", w, "--layers", "2", "--dim", "4", "--epochs", "1", "--negatives", "2")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--split", "train")
	rankings := rowsOf[parquet.Ranking](t, filepath.Join(w, "runs/main/evaluation", "train", "rankings"))
	found := 0
	for _, r := range rankings {
		want := int64(12)
		if r.Direction == "tail" && r.Source == "e001" && r.Relation == "skip" {
			found, want = found+1, 11
		}
		if r.Candidates != want {
			t.Errorf("%d candidates, want %d: %+v", r.Candidates, want, r)
		}
	}
	if found != 1 {
		t.Errorf("%d rankings of the query that test.txt answers too", found)
	}
}

// The number of shards changes no row and no metric, and the number of threads no byte of any part. A shard that is scored
// twice, as one of a killed worker is, gives the same part.
func TestHowQueriesAreCutChangesNothing(t *testing.T) {
	w := trained(t, "inductive")
	graph, folder := filepath.Join(w, "graph"), t.TempDir()
	t.Setenv("TMPDIR", t.TempDir()) // Beam leaves a file behind in each run
	run := func(to string, work float64, threads int) map[string]string {
		t.Helper()
		p := evaluate.Params{
			Queries: workload.Params{Graph: graph, Split: "test", Work: work, Best: 5},
			Model:   score.Params{Graph: graph, Split: "test", Checkpoints: filepath.Join(w, "runs/main/checkpoints"), Checkpoint: "best", Best: 5, Threads: threads},
			Folder:  to,
		}
		if err := ptest.Run(Build(p)); err != nil {
			t.Fatal(err)
		}
		return pipelinetest.Files(t, to)
	}
	whole := filepath.Join(folder, "whole")
	metrics := run(whole, 0, 1)["metrics.json"]
	rankings, predictions := rowsOf[parquet.Ranking](t, filepath.Join(whole, "rankings")), rowsOf[parquet.Prediction](t, filepath.Join(whole, "predictions"))
	for of, work := range map[int]float64{2: 1 << 33, 8: 1 << 36} { // of 8 queries, the second with more shards than those
		to := filepath.Join(folder, fmt.Sprint(of))
		want := run(to, work, 2)
		if n := len(want); n != 1+2*of || want["metrics.json"] != metrics {
			t.Errorf("%d shards: %d files, metrics %s, want %s", of, n, want["metrics.json"], metrics)
		}
		if diff := cmp.Diff(rankings, rowsOf[parquet.Ranking](t, filepath.Join(to, "rankings"))); diff != "" {
			t.Errorf("%d shards: rankings:\n%s", of, diff)
		}
		if diff := cmp.Diff(predictions, rowsOf[parquet.Prediction](t, filepath.Join(to, "predictions"))); diff != "" {
			t.Errorf("%d shards: predictions:\n%s", of, diff)
		}
		part := parquet.PartFile(filepath.Join(to, "rankings"), of-1, of)
		pipelinetest.Write(t, part, "what a killed worker left")
		pipelinetest.Same(t, run(to, work, 3), want)
	}
}

// An evaluation of another version, whose predictions have other columns, is refused with the command that overwrites it.
func TestEvaluationOfAnotherVersion(t *testing.T) {
	w := trained(t, "plain")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w)
	folder := filepath.Join(w, "runs/main/evaluation", "test")
	want := pipelinetest.Files(t, folder)
	stage := workspace.Stage{Workspace: workspace.New(w), Name: "score", Folder: "runs/main/evaluation/test"}
	earlier, err := manifest.Read(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	configuration := strings.Replace(string(earlier.Configuration), `"predictions_version"`, `"other"`, 1)
	stage.Configuration, stage.Vocabulary, stage.Inputs = json.RawMessage(configuration), earlier.Vocabulary, earlier.Inputs
	if err := stage.Resume(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if err := stage.Publish(t.Context(), earlier.Rows); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w)
	if code != 1 || !strings.Contains(stderr, "predictions_version") || !strings.Contains(stderr, "--force overwrites it") {
		t.Errorf("of another version score ends with %d and says\n%s", code, stderr)
	}
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--force")
	pipelinetest.Same(t, pipelinetest.Files(t, folder), want)
}

// TestKilledScoringEndsInTheSameBytes kills the real process without warning at moments all
// over its life, which an undisturbed run measures, and lets the last one end.
func TestKilledScoringEndsInTheSameBytes(t *testing.T) {
	w := trained(t, "plain")
	evaluation, arguments := filepath.Join(w, "runs/main/evaluation", "train"), []string{"--workspace", w, "--split", "train"}
	begun := time.Now()
	if killed, _ := pipelinetest.Kill(t, time.Hour, arguments...); killed {
		t.Fatal("it took an hour")
	}
	life := time.Since(begun)
	want := pipelinetest.Files(t, evaluation)
	rng := rand.New(rand.NewPCG(3, 3))
	for kills, runs := 0, 0; kills < 6; runs++ {
		if runs > 60 {
			t.Fatalf("%d runs were killed %d times: too few to show anything", runs, kills)
		}
		pipelinetest.Remove(t, evaluation)
		completed := false
		// What a killed run leaves is there for the next to find: two in a row.
		for range 2 {
			if killed, _ := pipelinetest.Kill(t, time.Duration(rng.Int64N(int64(life))), arguments...); !killed {
				break
			}
			kills++
			m := pipelinetest.Files(t, evaluation)["manifest.json"]
			if m != "" && m != want["manifest.json"] {
				t.Error("a killed run left another manifest")
			}
			completed = completed || m != ""
		}
		pipelinetest.Kill(t, time.Hour, arguments...)
		got := pipelinetest.Files(t, evaluation)
		if completed { // its lock, which it had no time to remove, protects nothing
			delete(got, lock.FileName)
		}
		pipelinetest.Same(t, got, want)
	}
}

func TestUserQueries(t *testing.T) {
	w := trained(t, "plain")
	queries := file(t, "queries.tsv", "e050\tskip\r\ne003\t~next\ne001\tnext\ne050\tskip\r\n")
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", queries, "--top_k", "3")
	for _, want := range []string{"e050  skip  ?", "e003  ~next  ?", "e004", "asked backward: 30 of at most 30 more propagations"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(w, "runs/main/evaluation", "queries", "answers.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != 1+3*3 {
		t.Fatalf("%d lines, want a head and 9:\n%s", len(lines), text)
	}
	for i, want := range map[int]string{1: "0\te050\tskip\t1\te", 4: "1\te003\t~next\t1\te", 7: "2\te001\tnext\t1\te"} {
		if !strings.HasPrefix(lines[i], want) || strings.Contains(lines[i], "\ttrue\t") {
			t.Errorf("line %d is %q, want a new answer after %q", i+1, lines[i], want)
		}
	}
	if again := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", queries, "--top_k", "3"); again != strings.ReplaceAll(out, "wrote ", "already exists: ") {
		t.Errorf("a second run says\n%s", again)
	}
	if !strings.Contains(out, "duplicate queries: 1") {
		t.Errorf("the duplicate query is not reported in\n%s", out)
	}
	other := file(t, "other.tsv", "e007\tback\n")
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", other, "--known"); !strings.Contains(out, "e006") {
		t.Errorf("other queries are answered by\n%s", out)
	}
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", trained(t, "inductive"), "--queries",
		file(t, "inductive.tsv", "o020\tskip\n"), "--top_k", "1", "--known"); !strings.Contains(out, "o022") {
		t.Errorf("the inference graph answers\n%s", out)
	}
}

// The answers are in the order of the user's file however many shards there are: one query a shard, all in one, or a single
// query.
func TestUserQueriesInShards(t *testing.T) {
	w := trained(t, "plain")
	graph, folder := filepath.Join(w, "graph"), t.TempDir()
	t.Setenv("TMPDIR", t.TempDir()) // Beam leaves a file behind in each run
	m, err := manifest.Read(t.Context(), graph)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := kg.Load(t.Context(), graph, m)
	if err != nil {
		t.Fatal(err)
	}
	var queries []edges.Query
	for source := range int32(40) {
		queries = append(queries, edges.Query{Source: source * 7 % 40, Relation: source % 4, Answer: edges.None})
	}
	answers := func(queries []edges.Query, work float64, shards int) string {
		t.Helper()
		to := filepath.Join(folder, fmt.Sprint(len(queries), "-", shards))
		table := filepath.Join(to, "queries.arrow")
		if err := kg.WriteQueries(t.Context(), table, queries); err != nil {
			t.Fatal(err)
		}
		err := ptest.Run(Build(evaluate.Params{
			Queries: workload.Params{Graph: graph, Split: "test", Queries: table, Work: work, Best: 2},
			Model:   score.Params{Graph: graph, Split: "test", Checkpoints: filepath.Join(w, "runs/main/checkpoints"), Checkpoint: "epoch-003", Best: 2, Threads: 2},
			Folder:  to,
		}))
		if err != nil {
			t.Fatal(err)
		}
		if files := pipelinetest.Files(t, to); len(files) != shards+3 {
			t.Errorf("%d files, want %d parts, queries and answers", len(files), shards)
		}
		return pipelinetest.Read(t, to, "answers.tsv")
	}
	want := answers(queries, 0, 1)
	lines := strings.Split(want, "\n")[1:]
	for i, q := range queries {
		if want := fmt.Sprintf("%d\t%s\t", i, loaded.Inference.Entities[q.Source]); !strings.HasPrefix(lines[2*i], want) {
			t.Errorf("the answers to query %d begin with %q, want %q", i, lines[2*i], want)
		}
	}
	pipelinetest.SameText(t, "answers of one query a shard", answers(queries, 1<<60, len(queries)), want)
	one := strings.Join(append([]string{strings.TrimSuffix(evaluation.AnswersHeading, "\n")}, lines[:2]...), "\n") + "\n"
	pipelinetest.SameText(t, "answers of one query", answers(queries[:1], 1<<60, 1), one)
}

// TestWhatTrainingLeavesToSay checks that score tells a training that is not finished, and that
// train proposes --force where metrics of another checkpoint are.
func TestWhatTrainingLeavesToSay(t *testing.T) {
	w := trained(t, "plain")
	train := func() string {
		return pipelinetest.Succeed(t, train.Pipeline(), "--workspace", w, "--layers", "3", "--dim", "8", "--epochs", "3", "--learning_rate", "0.02", "--negatives", "8")
	}
	const again = "./pipelines/score --workspace "
	if out := train(); !strings.Contains(out, again+w+"\n") {
		t.Errorf("without metrics, train says\n%s", out)
	}
	best, err := os.ReadFile(filepath.Join(w, "runs/main/checkpoints", "best"))
	if err != nil {
		t.Fatal(err)
	}
	for _, epoch := range []string{"1", "2", "3"} {
		out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--checkpoint", epoch, "--force")
		if strings.Contains(out, "training incomplete") {
			t.Errorf("of a finished training score says\n%s", out)
		}
		isBest := strings.TrimSpace(string(best)) == "epoch-00"+epoch
		if out := train(); strings.Contains(out, again+w+" --force\n") == isBest {
			t.Errorf("with metrics of epoch %s, %s is best, train says\n%s", epoch, best, out)
		}
	}
	pipelinetest.Remove(t, filepath.Join(w, "runs/main/checkpoints", "manifest.json"))
	for _, checkpoint := range []string{"2", w + "/./runs/main/checkpoints/epoch-002"} {
		out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--checkpoint", checkpoint, "--force")
		if !strings.Contains(out, "training incomplete; using epoch-002. Resume: go run ./pipelines/train --workspace "+w+" --resume") {
			t.Errorf("of an incomplete training score says\n%s", out)
		}
	}
}

// TestRunningTraining scores with a finished epoch of a training that is running.
func TestRunningTraining(t *testing.T) {
	w := trained(t, "plain")
	folder := filepath.Join(w, "runs/main/checkpoints")
	pipelinetest.Remove(t, folder, "manifest.json")
	pipelinetest.Write(t, filepath.Join(folder, lock.FileName), `{"host":"elsewhere","process":7,"token":"x"}`)
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--checkpoint", "2")
	if !strings.Contains(out, "the training is still running; using epoch-002\n") {
		t.Errorf("score says\n%s", out)
	}
}

// TestModelOfAnotherGraph checks that it is said if the graph is no longer that of the training.
func TestModelOfAnotherGraph(t *testing.T) {
	w := trained(t, "plain")
	const want = "the model was trained on another graph and may know the answers"
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w); strings.Contains(out, want) {
		t.Errorf("of the graph of the training score says\n%s", out)
	}
	other := pipelinetest.Dataset(t, pipelinetest.Ring("e", 60))
	testFile := filepath.Join(other, "test.txt")
	lines, err := os.ReadFile(testFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(testFile, lines[:bytes.IndexByte(lines, '\n')+1], 0o644); err != nil {
		t.Fatal(err)
	}
	pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", other, "--force")
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--force"); !strings.Contains(out, want) || !strings.Contains(out, "./pipelines/train --workspace "+w+" --force") {
		t.Errorf("of another graph score says\n%s", out)
	}
}

// Each mistake ends with its code, one line that says what and where, and no output.
func TestMistakes(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(t *testing.T, workspace string) []string // returns flags
		code  int
		want  []string
	}{
		"no workspace": {func(t *testing.T, w string) []string { return []string{"--workspace", w + "-absent"} }, 1, []string{"run go run ./pipelines/preprocess"}},
		"no training": {func(t *testing.T, w string) []string {
			pipelinetest.Remove(t, w, "runs/main/checkpoints")
			return []string{"--run", "main"} // without it, zero answers
		}, 1, []string{"no checkpoint", "run go run ./pipelines/train"}},
		"first epoch": {func(t *testing.T, w string) []string {
			pipelinetest.Remove(t, w, "runs/main/checkpoints")
			pipelinetest.Write(t, filepath.Join(w, "runs/main/checkpoints", lock.FileName), `{"host":"elsewhere","process":7,"token":"x"}`)
			return nil
		}, 1, []string{"no checkpoint", "a training is running (process 7 on host elsewhere", "wait for its first epoch"}},
		"no such epoch":      {flagsOnly("--checkpoint", "9"), 1, []string{"epoch-009", "epoch-003"}},
		"no such split":      {flagsOnly("--split", "dev"), 2, []string{"--split", "dev"}},
		"no memory":          {flagsOnly("--memory", "0"), 2, []string{"--memory is 0"}},
		"little memory":      {flagsOnly("--memory", "99", "--threads", "7"), 2, []string{"--memory 99 is too small", "takes at least", "7 threads", "graph"}},
		"negative top_k":     {flagsOnly("--top_k", "-1"), 2, []string{"--top_k is -1"}},
		"no such kernel":     {flagsOnly("--kernel", "cuda9"), 2, []string{"--kernel", "cuda9"}},
		"device":             {flagsOnly("--device", "gpu"), 2, []string{"--device is \"gpu\": want auto, cpu"}},
		"no such device":     {flagsOnly("--device", "cuda:999"), 1, []string{"--device cuda:999: ", "no CUDA d"}},
		"an unset variable":  {flagsOnly("--queries", ""), 2, []string{`--queries is ""`}},
		"no such flag":       {flagsOnly("--topk", "1"), 2, []string{"--topk", "--top_k"}},
		"unknown entity":     {queriesOf("e003\tnext\ne0003\tnext\n"), 1, []string{"queries.tsv:2: unknown entity \"e0003\"; closest: \"e000\", \"e003\""}},
		"unknown relation":   {queriesOf("e003\tnexd\n"), 1, []string{"queries.tsv:1: unknown relation \"nexd\"; closest: \"next\""}},
		"queries, spaces":    {queriesOf("e003 next\n"), 1, []string{"queries.tsv:1:"}},
		"queries, four":      {queriesOf("e003\tnext\te004\te005\n"), 1, []string{"queries.tsv:1: 4 fields instead of 2"}},
		"queries, NUL":       {queriesOf("e003\tne\x00xt\n"), 1, []string{"queries.tsv:1:"}},
		"queries, not UTF-8": {queriesOf("e003\tne\xffxt\n"), 1, []string{"queries.tsv:1:"}},
		"queries, none":      {queriesOf(""), 1, []string{"queries.tsv"}},
		"queries, no file":   {flagsOnly("--queries", "absent.tsv"), 2, []string{"--queries", "absent.tsv"}},
		"queries, long":      {queriesOf(strings.Repeat("x", 4000) + "\tnext\n"), 1, []string{"queries.tsv:1: unknown entity \"xxx", "xx\"... (4000 bytes); closest: \"e000\""}},
		"queries, and more":  {flagsOnly("--queries", "q.tsv", "--relation", "next"), 2, []string{"--relation", "--queries"}},
		"no such relation":   {flagsOnly("--relation", "next,nexd"), 2, []string{"--relation: unknown relation \"nexd\"; closest: \"next\""}},
		"no relation":        {flagsOnly("--sources", "all"), 2, []string{"--sources needs --relation"}},
		"known of a split":   {flagsOnly("--known"), 2, []string{"--known needs --relation or --queries"}},
		"graph of a split":   {flagsOnly("--graph", "train"), 2, []string{"--graph is about your own queries"}},
		"missing of a split": {flagsOnly("--missing", ".1"), 2, []string{"--missing is about probabilities, which an evaluation does not have"}},
		"split of queries":   {flagsOnly("--split", "valid", "--relation", "next"), 2, []string{"--split is about the evaluation of a split", "--graph train"}},
		"missing of train":   {flagsOnly("--relation", "next", "--graph", "train", "--missing", ".1"), 2, []string{"--missing is about probabilities, which --graph train does not have"}},
		"missing of all":     {flagsOnly("--relation", "next", "--missing", "1.1"), 2, []string{"--missing is 1.1: want more than 0, at most 1"}},
		"no such graph":      {flagsOnly("--relation", "next", "--graph", "test"), 2, []string{"--graph", "want one of all, train"}},
		"no types":           {flagsOnly("--relation", "next", "--sources", "type:Drug"), 2, []string{"--sources: the graph has no entity types"}},
		"no list":            {flagsOnly("--relation", "next", "--candidates", "absent.txt"), 2, []string{"--candidates", "absent.txt"}},
		"entity for a list":  {flagsOnly("--relation", "next", "--sources", "e003"), 2, []string{"--sources: e003 is an entity, but no file: give a file with a name on each line"}},
		"output of a split":  {flagsOnly("--relation", "next", "--output", "test"), 2, []string{"--output is test"}},
		"output elsewhere":   {flagsOnly("--relation", "next", "--output", "../up"), 2, []string{"--output is ../up"}},
		"list, unknown name": {func(t *testing.T, _ string) []string {
			return []string{"--relation", "next", "--sources", file(t, "list.txt", "e003\ne0003\n")}
		}, 1, []string{"list.txt:2: unknown entity \"e0003\"; closest: \"e000\", \"e003\""}},
		"checkpoint cut":     {damage("runs/main/checkpoints/epoch-003.safetensors", pipelinetest.Cut), 1, []string{"epoch-003.safetensors", "damaged", "--checkpoint"}},
		"checkpoint flipped": {damage("runs/main/checkpoints/epoch-003.safetensors", pipelinetest.Flip), 1, []string{"epoch-003.safetensors", "damaged"}},
		"record cut":         {damage("runs/main/checkpoints/epoch-003.json", pipelinetest.Cut), 1, []string{"epoch-003.json", "damaged"}},
		"record flipped":     {damage("runs/main/checkpoints/epoch-003.json", pipelinetest.Flip), 1, []string{"epoch-003.json", "damaged"}},
		"training flipped":   {damage("runs/main/checkpoints/manifest.json", pipelinetest.Flip), 1, []string{"runs/main/checkpoints/manifest.json", "go run ./pipelines/train"}},
		"best damaged":       {damage("runs/main/checkpoints/best", pipelinetest.Flip), 1, []string{"runs/main/checkpoints/best"}},
		"graph cut":          {damage("graph/answers.arrow", pipelinetest.Cut), 1, []string{"answers.arrow", "go run ./pipelines/preprocess"}},
		"graph flipped":      {damage("graph/queries-test.arrow", pipelinetest.Flip), 1, []string{"queries-test.arrow", "go run ./pipelines/preprocess"}},
		"manifest cut":       {damage("graph/manifest.json", pipelinetest.Cut), 1, []string{"manifest.json", "go run ./pipelines/preprocess"}},
		"manifest flipped":   {damage("graph/manifest.json", pipelinetest.Flip), 1, []string{"manifest.json", "go run ./pipelines/preprocess"}},
		"other relations": {func(t *testing.T, w string) []string {
			folder := pipelinetest.Dataset(t, pipelinetest.RenamedRing("e", 60, "after", "before", "over"))
			pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", folder, "--force")
			return nil
		}, 1, []string{`the model does not know 3 of the graph's relations ("after", "before", "over")`, "train --workspace", "--model zero"}},
		"other configuration": {func(t *testing.T, w string) []string {
			pipelinetest.Succeed(t, Pipeline(), "--workspace", w)
			return []string{"--top_k", "3"}
		}, 1, []string{"top_k is 10 there, 3 here", "--top_k 3 --force"}},
		"no queries": {func(t *testing.T, w string) []string {
			folder := pipelinetest.Dataset(t, pipelinetest.Ring("e", 60))
			pipelinetest.Write(t, folder+"/test.txt", "no fact\n")
			pipelinetest.Succeed(t, preprocess.Pipeline(), "--workspace", w, "--dataset", folder, "--force", "--on_bad_line", "reject")
			return nil
		}, 1, []string{"test", "no queries"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := trained(t, "plain")
			arguments := append([]string{"--workspace", w}, c.spoil(t, w)...)
			before := pipelinetest.Files(t, filepath.Join(w, "runs/main/evaluation"))
			code, _, stderr := pipelinetest.Run(t, Pipeline(), arguments...)
			if code != c.code {
				t.Errorf("exit code %d, want %d", code, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("no %q in %q", want, stderr)
				}
			}
			if n := strings.Count(strings.TrimSpace(stderr), "\n"); n != 0 || strings.Contains(stderr, "goroutine") {
				t.Errorf("%d lines: %q", n+1, stderr)
			}
			pipelinetest.Same(t, pipelinetest.Files(t, filepath.Join(w, "runs/main/evaluation")), before)
		})
	}
}

func flagsOnly(flags ...string) func(*testing.T, string) []string {
	return func(*testing.T, string) []string { return flags }
}

func queriesOf(text string) func(*testing.T, string) []string {
	return func(t *testing.T, _ string) []string {
		return []string{"--queries", file(t, "queries.tsv", text)}
	}
}

// damage damages a file and names the last epoch, which need not be the best.
func damage(file string, spoil func(testing.TB, ...string)) func(*testing.T, string) []string {
	return func(t *testing.T, w string) []string {
		t.Helper()
		spoil(t, w, file)
		if strings.HasSuffix(file, "best") {
			return nil
		}
		return []string{"--checkpoint", "3"}
	}
}

// TestTakenOver checks that a run that lost its folder to another one writes nothing there.
func TestTakenOver(t *testing.T) {
	workspace := trained(t, "plain")
	t.Run("split", func(t *testing.T) {
		pipelinetest.TakenOver(t, Pipeline(), workspace, "runs/main/evaluation/test", "--device", "cpu")
	})
	t.Run("queries", func(t *testing.T) {
		pipelinetest.TakenOver(t, Pipeline(), workspace, "runs/main/evaluation/queries", "--device", "cpu", "--queries", file(t, "queries.tsv", "e000\tnext\n"))
	})
}
