package preprocess

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"tagnet/formats/workspace/counts"
	"tagnet/pipelines/internal/pipelinetest"
)

// data is where the datasets lie, beside the project.
const data = "../../../../shared/data"

// size is a row of the paper's tables: entities and facts of the graph that a split asks, and
// the split's queries.
type size struct{ entities, facts, queries int64 }

// TestSizesOfThePaper compares with the paper's dataset tables. Of the inductive datasets,
// valid asks the training graph and test the inference graph.
func TestSizesOfThePaper(t *testing.T) {
	if _, err := os.Stat(data); err != nil {
		t.Skipf("the datasets are not at %s", data)
	}
	tests := []struct {
		dataset, inference string
		relations          int64
		train, valid, test size
	}{
		{"wn18rr", "", 11, size{40943, 86835, 86835}, size{40943, 86835, 3034}, size{40943, 86835, 3134}},
		{"inductive/fb237_v1", "inductive/fb237_v1_ind", 180, size{1594, 4245, 4245}, size{1594, 4245, 489}, size{1093, 1993, 205}},
		{"inductive/WN18RR_v4", "inductive/WN18RR_v4_ind", 9, size{3861, 7940, 7940}, size{3861, 7940, 934}, size{7084, 12334, 1429}},
	}
	for _, test := range tests {
		t.Run(filepath.Base(test.dataset), func(t *testing.T) {
			workspace := t.TempDir()
			arguments := []string{"--workspace", workspace, "--dataset", filepath.Join(data, test.dataset)}
			if test.inference != "" {
				arguments = append(arguments, "--inference", filepath.Join(data, test.inference))
			}
			pipelinetest.Succeed(t, Pipeline(), arguments...)
			s, err := counts.ReadDataset(context.Background(), filepath.Join(workspace, "graph"))
			if err != nil {
				t.Fatal(err)
			}
			if s.Relations != test.relations {
				t.Errorf("%d relations, want %d", s.Relations, test.relations)
			}
			queried := counts.Graph{Entities: s.Entities, Facts: s.Facts}
			if got := (size{queried.Entities, queried.Facts, s.Queries["train"] / 2}); got != test.train {
				t.Errorf("train %+v, want %+v", got, test.train)
			}
			if got := (size{queried.Entities, queried.Facts, s.Queries["valid"] / 2}); got != test.valid {
				t.Errorf("valid %+v, want %+v", got, test.valid)
			}
			if s.InferenceGraph != nil {
				queried = *s.InferenceGraph
			}
			if got := (size{queried.Entities, queried.Facts, s.Queries["test"] / 2}); got != test.test {
				t.Errorf("test %+v, want %+v", got, test.test)
			}
			for split, n := range s.Repeated {
				if n != 0 {
					t.Errorf("%d repeated facts in %s", n, split)
				}
			}
		})
	}
}
