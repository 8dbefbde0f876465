package scoring_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/workspace/parquet"
	"tagnet/model"
	"tagnet/model/answer"
	"tagnet/pipelines/internal/ask"
	"tagnet/pipelines/internal/discover"
	"tagnet/pipelines/internal/pipelinetest"
	"tagnet/pipelines/internal/scoring/scoringtest"
	"tagnet/stages/predict"
	"tagnet/stages/stagetest"
)

// TestLibraryAnswersAsTheCommand compares package model with the predictions of ask, bit for bit.
func TestLibraryAnswersAsTheCommand(t *testing.T) {
	for kind, prefix := range map[string]string{"plain": "e", "inductive": "o"} {
		t.Run(kind, func(t *testing.T) {
			w := scoringtest.Trained(t, kind)
			var text strings.Builder
			var queries []model.Query
			for _, source := range []string{"000", "007", "003", "012"} {
				for _, relation := range []string{"skip", "~skip", "next"} {
					queries = append(queries, model.Query{Source: prefix + source, Relation: relation})
					text.WriteString(prefix + source + "\t" + relation + "\n")
				}
			}
			file := filepath.Join(t.TempDir(), "queries.tsv")
			if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			among := []string{prefix + "001", prefix + "005", prefix + "009", prefix + "013", prefix + "020", prefix + "004"}
			list := filepath.Join(t.TempDir(), "among")
			if err := os.WriteFile(list, []byte(strings.Join(among, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
			for name, c := range map[string]struct {
				flags   []string
				k       int
				options []model.AskOption
			}{
				"new":             {[]string{"--top_k", "6"}, 6, nil},
				"known":           {[]string{"--top_k", "6", "--known"}, 6, []model.AskOption{model.WithKnown()}},
				"new, among some": {[]string{"--top_k", "2", "--candidates", list}, 2, []model.AskOption{model.Among(among)}},
			} {
				pipelinetest.Succeed(t, ask.Pipeline(), append([]string{"--workspace", w, "--queries", file}, c.flags...)...)
				m, err := model.Open(t.Context(), w)
				if err != nil {
					t.Fatal(err)
				}
				got, err := m.AskAll(t.Context(), queries, c.k, c.options...)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(answersOf(t, w, "queries"), got); diff != "" {
					t.Errorf("%s (-ask --queries +library):\n%s", name, diff)
				}
				if got[0].List[0].Probability == nil {
					t.Errorf("%s: the library has no probabilities", name)
				}
			}
		})
	}
}

// answersOf returns the answers in a folder as the library does.
func answersOf(t *testing.T, w, name string) (answers []model.Answers) {
	t.Helper()
	for _, r := range stagetest.Rows[parquet.Answer](t, filepath.Join(w, "runs/main/answers", name, predict.AnswersTable)) {
		for int(r.Query) >= len(answers) {
			answers = append(answers, model.Answers{})
		}
		of := &answers[r.Query]
		of.List = append(of.List, model.Answer{
			Entity: r.Entity, Probability: r.Probability, Odds: model.Odds(r.Probability), Score: r.Score, Rank: r.Rank,
			OtherScore: r.OtherScore, OtherRank: r.OtherRank, Hops: model.Hops(r.Hops), Known: r.Known,
		})
	}
	return answers
}

// TestLibraryLoadsAndTrainsAsTheCommands compares a model of the text files, and one trained in memory,
// with the workspace's.
func TestLibraryLoadsAndTrainsAsTheCommands(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	opened, err := model.Open(t.Context(), w, model.WithCheckpoint("last"))
	if err != nil {
		t.Fatal(err)
	}
	var queries []model.Query
	for _, source := range opened.Entities()[:20] {
		queries = append(queries, model.Query{Source: source, Relation: "skip"}, model.Query{Source: source, Relation: "~next"})
	}
	want, err := opened.AskAll(t.Context(), queries, 7)
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, m *model.Model, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := m.AskAll(t.Context(), queries, 7)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-workspace +library):\n%s", name, diff)
		}
	}
	text := pipelinetest.Dataset(t, pipelinetest.Ring("e", 60))
	files := model.Files{Train: filepath.Join(text, "train.txt"), Valid: filepath.Join(text, "valid.txt"), Test: filepath.Join(text, "test.txt")}
	loaded, err := model.Load(t.Context(), files, filepath.Join(w, "runs/main/checkpoints", opened.Checkpoint()+".json"))
	check("loaded", loaded, err)

	var facts model.Facts
	for url, into := range map[string]*[]model.Triple{files.Train: &facts.Train, files.Valid: &facts.Valid, files.Test: &facts.Test} {
		if *into, err = model.ReadTriples(t.Context(), url); err != nil {
			t.Fatal(err)
		}
	}
	learned, err := model.Train(t.Context(), facts, opened.Configuration(), 0, nil)
	check("trained", learned, err)
}

// TestLibraryDiscoversAsTheCommand compares lists of new facts, bit for bit.
func TestLibraryDiscoversAsTheCommand(t *testing.T) {
	for kind, name := range map[string]string{"plain": "all", "inductive": "skip"} {
		w := scoringtest.Trained(t, kind)
		pipelinetest.Succeed(t, discover.Pipeline(), "--workspace", w, "--relation", name, "--most", "300")
		m, err := model.Open(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		wanted := model.Discovery{Most: 300}
		if name != "all" {
			wanted.Relations = []string{name}
		}
		found, err := m.Discover(t.Context(), wanted)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]parquet.Fact, len(found))
		for i, f := range found {
			got[i] = parquet.Fact{
				Position: int64(i + 1), Head: f.Head, Relation: f.Relation, Tail: f.Tail, Probability: f.Probability,
				TailScore: f.AsTail.Score, TailRank: f.AsTail.Rank, HeadScore: f.AsHead.Score, HeadRank: f.AsHead.Rank, Hops: int32(f.Hops),
			}
		}
		want := stagetest.Rows[parquet.Fact](t, filepath.Join(w, "runs/main/facts", name, "facts"))
		if diff := cmp.Diff(want, got); diff != "" || len(got) < 100 || got[0].Probability == nil {
			t.Errorf("%s, %s: %d facts (-discover +library):\n%s", kind, name, len(got), diff)
		}
	}
}

// TestLibraryFitsAsTheCommand has the library fit the probabilities that a training fitted, in a
// workspace that keeps them.
func TestLibraryFitsAsTheCommand(t *testing.T) {
	for _, kind := range []string{"plain", "inductive"} {
		w := scoringtest.Trained(t, kind)
		folder := filepath.Join(w, answer.ProbabilitiesFolder)
		want := pipelinetest.Files(t, folder)
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		m, err := model.Open(t.Context(), w)
		if err != nil {
			t.Fatal(err)
		}
		if _, fitted := m.Presumed(); fitted {
			t.Errorf("%s: there are probabilities before they are fitted", kind)
		}
		if _, err := os.Stat(folder); err == nil {
			t.Errorf("%s: Open writes", kind)
		}
		if err := m.Fit(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		pipelinetest.Same(t, pipelinetest.Files(t, folder), want)
		if len(want) != 1 {
			t.Errorf("%s: %d files, want one", kind, len(want))
		}
	}
}

func TestLibraryNoticesDamage(t *testing.T) {
	w := scoringtest.Trained(t, "plain")
	for _, path := range []string{"graph/answers.arrow", "graph/manifest.json", "runs/main/checkpoints/best"} {
		file := filepath.Join(w, filepath.FromSlash(path))
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pipelinetest.Write(t, file, string(whole[:len(whole)/2])+"x"+string(whole[len(whole)/2:]))
		if _, err := model.Open(t.Context(), w); !errors.Is(err, model.ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(path)) {
			t.Errorf("%s: %v", path, err)
		}
		pipelinetest.Write(t, file, string(whole))
	}
	if _, err := model.Open(t.Context(), w); err != nil {
		t.Error(err)
	}
}
