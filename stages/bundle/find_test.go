package bundle_test

import (
	"fmt"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
	"tagnet/model/engine/parts"
	"tagnet/model/graph/kg"
	"tagnet/model/learn/learntest"
	"tagnet/model/weights/configuration"
	"tagnet/stages/bundle"
	"tagnet/stages/stagetest"
)

// TestPartsAreThoseOfTheGraph compares what searches of the blocks of a graph write with the parts that a search of the
// whole graph finds, for every removal, and for edges in one file and in several.
func TestPartsAreThoseOfTheGraph(t *testing.T) {
	for _, edgeFiles := range []int{1, 4} {
		graph, k := stagetest.Graph(t, 90, edgeFiles)
		for _, c := range []struct {
			split, remove string
			reach, layers int
			limit         int64
		}{
			{split: "train", reach: 30, layers: 4, remove: configuration.RemoveTriple},
			{split: "train", reach: 7, layers: 2, remove: configuration.RemoveOneHop},
			{split: "train", reach: 60, layers: 6, remove: configuration.RemoveNone}, {split: "test", reach: 40, layers: 5},
			{split: "valid", reach: 15, layers: 3, limit: 29},
		} {
			h, err := learntest.HeaderOf(t.Context(), k, c.split, configuration.Configuration{Reach: c.reach, Layers: c.layers, Remove: c.remove}, nil)
			if err != nil {
				t.Fatal(err)
			}
			h.Limit = c.limit
			files, err := bundle.Cut(t.Context(), h, storage.Join(graph, kg.QueriesFile(c.split)))
			if err != nil {
				t.Fatal(err)
			}
			p := bundle.Params{Graph: graph, Answers: kg.AnswersFileOf(k.Manifest, c.split), Header: h,
				Folder: fmt.Sprintf("%s-%s-%d", graph, c.split, c.reach), Threads: 2}
			for _, file := range kg.EdgeFiles(k.Manifest, c.split) {
				p.Edges = append(p.Edges, file.Name)
			}
			if err := stagetest.Run(t, func(s beam.Scope) { bundle.Find(s, beam.CreateList(s, files), p) }); err != nil {
				t.Fatal(err)
			}
			compare(t, k, p, files)
		}
	}
}

// compare compares files of parts, byte for byte, with those of the parts that are found in the graph.
func compare(t *testing.T, k *kg.KG, p bundle.Params, files []bundle.File) {
	t.Helper()
	found, err := learntest.FindParts(t.Context(), k, p.Header)
	if err != nil || len(found) < 20 {
		t.Fatalf("%d parts, error %v", len(found), err)
	}
	for _, file := range files {
		name := parts.File(file.Number, file.Files)
		want := p.Folder + "-want/" + name
		w, err := parts.Create(t.Context(), want, p.Header)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Abort()
		for _, f := range found[:file.Parts] {
			if err := w.Write(&f.Part, f.Queries); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		found = found[file.Parts:]
		wantText, err := storage.ReadFile(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		if got := storagetest.Files(t, p.Folder)[name]; got != string(wantText) {
			t.Errorf("%s: %d bytes, want %d others", storage.Join(p.Folder, name), len(got), len(wantText))
		}
	}
	if len(found) > 0 {
		t.Errorf("%s: %d parts are in no file", p.Folder, len(found))
	}
}
