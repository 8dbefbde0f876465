package kg

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/tables"
	"tagnet/model/graph"
)

// TestReplacedGraph replaces a folder after its graph was loaded, and before its other tables are read.
func TestReplacedGraph(t *testing.T) {
	folder := storagetest.Memory(t)
	queries := []graph.Query{{Source: 0, Relation: 0, Answer: 1}, {Source: 1, Relation: 1, Answer: 0}}
	write := func(name string) manifest.Manifest {
		t.Helper()
		for file, names := range map[string][]string{EntitiesFile: {"a", name}, RelationsFile: {"r"}} {
			w, err := tables.CreateNames(t.Context(), storage.Join(folder, file), nameTables[file])
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range names {
				if err := w.Write([]byte(n)); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		edges, err := tables.CreateEdges(t.Context(), storage.Join(folder, EdgesFile(0, 1)))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range [][3]int32{{0, 1, 1}, {1, 0, 0}} {
			if err := edges.Write(e[0], e[1], e[2]); err != nil {
				t.Fatal(err)
			}
		}
		if err := edges.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := WriteQueries(t.Context(), storage.Join(folder, QueriesFile("train")), queries[:1]); err != nil {
			t.Fatal(err)
		}
		w, err := tables.CreateAnswers(t.Context(), storage.Join(folder, AnswersFile))
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range queries {
			if err := w.Write(q.Source, q.Relation, []int32{q.Answer}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := storage.WriteFile(t.Context(), storage.Join(folder, "answers-train.arrow"), []byte("of an earlier version")); err != nil {
			t.Fatal(err)
		}
		files, err := manifest.HashFolder(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := manifest.Write(t.Context(), folder, manifest.Manifest{Rows: map[string]int64{"entities": 2, "edges": 2}, Files: files}); err != nil {
			t.Fatal(err)
		}
		m, err := manifest.Read(t.Context(), folder)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := write("b")
	k, err := Load(t.Context(), folder, m)
	if err != nil {
		t.Fatal(err)
	}
	read, err := k.Queries(t.Context(), "train")
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(queries, read); diff != "" {
		t.Errorf("training queries (-want +got):\n%s", diff)
	}
	facts, err := k.Facts(t.Context())
	if err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]graph.Fact{{Head: 0, Relation: 0, Tail: 1}}, facts); diff != "" {
		t.Errorf("training facts (-want +got):\n%s", diff)
	}
	write("c")
	if _, err := k.Queries(t.Context(), "train"); err != nil {
		t.Errorf("what was read before: %v", err)
	}
	_, answers := k.Train.Answers(t.Context())
	_, late := Load(t.Context(), folder, m)
	for what, err := range map[string]error{"answers": answers, "a graph": late} {
		if err == nil || !strings.Contains(err.Error(), folder+" is being replaced: run again") {
			t.Errorf("%s: error %v", what, err)
		}
	}
}
