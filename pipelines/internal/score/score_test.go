package score

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/parquet"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/pipelines/internal/train"
	"tagnet/stages/predict"
	"tagnet/stages/stagetest"
)

func TestMain(m *testing.M) { os.Exit(pipelinetest.Main(m, Pipeline())) }

func metricsOf(t testing.TB, workspace, split string) metrics.Evaluation {
	t.Helper()
	m, err := storage.ReadJSON[metrics.Evaluation](t.Context(), filepath.Join(workspace, "runs/main/evaluation", split, metrics.File))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestScore(t *testing.T) {
	for kind, entities := range map[string]int64{"plain": 60, "inductive": 40} {
		t.Run(kind, func(t *testing.T) {
			w := scoringtest.Trained(t, kind)
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
			// Nothing else is known to be skipped to, and held-out facts make a ring: each has one half of
			// its links, or none.
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
	rankings := stagetest.Rows[parquet.Ranking](t, filepath.Join(folder, "rankings"))
	if int64(len(rankings)) != m.Queries {
		t.Fatalf("%d rankings, want %d", len(rankings), m.Queries)
	}
	storagetest.EveryField(t, rankings)
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
	predictions := stagetest.Rows[parquet.Prediction](t, filepath.Join(folder, "predictions"))
	if int64(len(predictions)) != 4*m.Distinct {
		t.Fatalf("%d predictions, want %d", len(predictions), 4*m.Distinct)
	}
	storagetest.EveryField(t, predictions)
	for i, p := range predictions {
		if int(p.Position) != i%4+1 || i%4 > 0 && p.Score > predictions[i-1].Score ||
			p.Hops < -1 {
			t.Errorf("prediction %+v", p)
		}
	}
}

// Threads, memory and repetition change no byte.
func TestHowWorkIsSharedChangesNothing(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	evaluation := filepath.Join(w, "runs/main/evaluation")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--threads", "1")
	want := pipelinetest.Files(t, evaluation)
	if len(want) != 4 {
		t.Fatalf("%d files, want rankings, predictions, metrics and a manifest", len(want))
	}
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w); !strings.Contains(out, "is complete") || strings.Contains(out, "wrote ") ||
		strings.Count(out, "already exists: ") != 3 {
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
	rankings := stagetest.Rows[parquet.Ranking](t, filepath.Join(w, "runs/main/evaluation", "train", "rankings"))
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

// An evaluation of another version, whose predictions have other columns, is refused with the command
// that overwrites it.
func TestEvaluationOfAnotherVersion(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w)
	folder := filepath.Join(w, "runs/main/evaluation", "test")
	want := pipelinetest.Files(t, folder)
	output := workspace.Output{Workspace: workspace.New(w), Name: "score", Folder: "runs/main/evaluation/test"}
	earlier, err := manifest.Read(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	configuration := strings.Replace(string(earlier.Configuration), `"predictions":`, `"other":`, 1)
	output.Configuration, output.Vocabulary, output.Inputs = json.RawMessage(configuration), earlier.Vocabulary, earlier.Inputs
	if err := output.Resume(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if err := output.Publish(t.Context(), earlier.Rows); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := pipelinetest.Run(t, Pipeline(), "--workspace", w)
	if code != 1 || !strings.Contains(stderr, "tables.predictions") || !strings.Contains(stderr, "--force overwrites it") {
		t.Errorf("of another version score ends with %d and says\n%s", code, stderr)
	}
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--force")
	pipelinetest.Same(t, pipelinetest.Files(t, folder), want)
}

// TestKilledScoringEndsInTheSameBytes kills the real process without warning at moments all
// over its life, which an undisturbed run measures, and lets the last one end.
func TestKilledScoringEndsInTheSameBytes(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
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

// TestWhatTrainingLeavesToSay checks that score tells a training that is not finished, and that
// train proposes --force where metrics of another checkpoint are.
func TestWhatTrainingLeavesToSay(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	train := func() string {
		return pipelinetest.Succeed(t, train.Pipeline(), "--workspace", w, "--layers", "3", "--dim", "8", "--epochs", "3", "--learning_rate", "0.02",
			"--negatives", "8")
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
		out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--model", epoch, "--force")
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
		out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--model", checkpoint, "--force")
		if !strings.Contains(out, "training incomplete; using epoch-002. Resume: go run ./pipelines/train --workspace "+w+" --resume") {
			t.Errorf("of an incomplete training score says\n%s", out)
		}
	}
}

// TestRunningTraining scores with a finished epoch of a training that is running.
func TestRunningTraining(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	folder := filepath.Join(w, "runs/main/checkpoints")
	pipelinetest.Remove(t, folder, "manifest.json")
	pipelinetest.Write(t, filepath.Join(folder, lock.FileName), `{"host":"elsewhere","process":7,"token":"x"}`)
	out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--model", "2")
	if !strings.Contains(out, "the training is still running; using epoch-002\n") {
		t.Errorf("score says\n%s", out)
	}
}

// TestModelOfAnotherGraph checks that it is said if the graph is no longer that of the training.
func TestModelOfAnotherGraph(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
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
	if out := pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--force"); !strings.Contains(out, want) ||
		!strings.Contains(out, "./pipelines/train --workspace "+w+" --force") {
		t.Errorf("of another graph score says\n%s", out)
	}
}

// TestDryRun checks that --dry_run and --plan print the job and leave the outputs of a complete workspace.
func TestDryRun(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	pipelinetest.Succeed(t, Pipeline(), "--workspace", w)
	pipelinetest.DryRun(t, Pipeline(), w, "/predict.evaluateFn")
	pipelinetest.Plan(t, Pipeline(), w, "step       predict.evaluate: ")
}

func TestLeastMemory(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	pipelinetest.LeastMemory(t, Pipeline(), filepath.Join(w, "runs/main/evaluation", "test"), "--workspace", w, "--threads", "3")
}

func TestGraph(t *testing.T) {
	command.InitBeam()
	p := predict.EvaluateParams{Folder: "mem://evaluation"}
	p.Queries.Graph, p.Queries.Split, p.Model.Checkpoint = "mem://graph", "test", "epoch-001"
	pipelinetest.Golden(t, "graph", pipelinetest.Graph(t, command.BeamPipeline(predict.Evaluate, p)))
}
