package score

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/parquet"
	"tagnet/model"
	"tagnet/pipelines/internal/pipelinetest"
)

// TestLibraryAnswersAsTheCommand compares package model with the predictions of score --queries, bit for bit.
func TestLibraryAnswersAsTheCommand(t *testing.T) {
	for kind, prefix := range map[string]string{"plain": "e", "inductive": "o"} {
		t.Run(kind, func(t *testing.T) {
			w := trained(t, kind)
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
			pipelinetest.Succeed(t, Pipeline(), "--workspace", w, "--queries", file, "--top_k", "6")
			predictions := rowsOf[parquet.Prediction](t, filepath.Join(w, "runs/main/evaluation", "queries", "predictions"))
			want := make([]model.Answers, len(queries))
			for i, p := range predictions { // in the order of the queries
				want[i/6].List = append(want[i/6].List, model.Answer{Entity: p.Entity, Score: p.Score, Probability: p.Probability, Hops: int(p.Hops), Known: p.Known})
			}
			m, err := model.Open(t.Context(), w)
			if err != nil {
				t.Fatal(err)
			}
			got, err := m.AskAll(t.Context(), queries, 6)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("answers (-score --queries +library):\n%s", diff)
			}
			among := []string{prefix + "001", prefix + "005", prefix + "009", prefix + "013", prefix + "020", prefix + "004"}
			flags := []string{"--workspace", w, "--queries", file, "--top_k", "2", "--only_new", "--candidates", filepath.Join(t.TempDir(), "among")}
			if err := os.WriteFile(flags[len(flags)-1], []byte(strings.Join(among, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
			pipelinetest.Succeed(t, Pipeline(), flags...)
			want = make([]model.Answers, len(queries))
			for _, p := range rowsOf[parquet.Prediction](t, filepath.Join(w, "runs/main/evaluation", "queries", "predictions")) {
				want[p.Query].List = append(want[p.Query].List, model.Answer{Entity: p.Entity, Score: p.Score, Probability: p.Probability, Hops: int(p.Hops), Known: p.Known})
			}
			if got, err = m.AskAll(t.Context(), queries, 2, model.Among(among)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("new answers among some (-score +library):\n%s", diff)
			}
		})
	}
}

// TestLibraryLoadsAndTrainsAsTheCommands compares a model of the text files, and one trained in memory, with the
// workspace's.
func TestLibraryLoadsAndTrainsAsTheCommands(t *testing.T) {
	w := trained(t, "plain")
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

func TestLibraryNoticesDamage(t *testing.T) {
	w := trained(t, "plain")
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
