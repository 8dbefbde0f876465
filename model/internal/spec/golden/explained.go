package golden

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Explanation is an answer of one of a case's queries, with how much each message carries of its score and
// the best paths to it.
type Explanation struct {
	Case   *Case
	Query  Query
	Answer int32
	Score  float64
	// Layers has the edges of layer t at t-1 whose gradient is not 0. A layer without such edges may be absent
	// at the end.
	Layers [][]ExplainedEdge
	// Paths are the K best, best first.
	Paths []ExplainedPath
	K     int
}

// ExplainedEdge is an edge with the gradient of the score by its message's factor.
type ExplainedEdge struct {
	Sender, Relation, Receiver int32
	Gradient                   float64
}

// UnmarshalJSON reads [sender, relation, receiver, gradient].
func (e *ExplainedEdge) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&e.Sender, &e.Relation, &e.Receiver, &e.Gradient})
}

// ExplainedPath is a path with its weight. Edges are [sender, relation, receiver].
type ExplainedPath struct {
	Weight float64    `json:"weight"`
	Edges  [][3]int32 `json:"edges"`
}

// Explanations reads the explained golden cases of the repository, and the cases of the folder golden-explain beside
// the folder of further cases where there is one. A folder without explanations, or with invalid ones, fails the test.
func Explanations(t testing.TB) []Explanation {
	t.Helper()
	root := moduleRoot(t)
	explained := readExplanations(t, filepath.Join(root, "model", "internal", "spec", "golden", "testdata", "explained"))
	folder := filepath.Dir(further(root))
	if _, err := os.Stat(filepath.Join(folder, "golden-explain")); errors.Is(err, fs.ErrNotExist) {
		t.Logf("only the explained cases of the repository: %s has no folder golden-explain", folder)
		return explained
	}
	return append(explained, readExplanations(t, folder)...)
}

// readExplanations reads the explanations of folder/golden-explain, which belong to the cases of folder/golden.
func readExplanations(t testing.TB, folder string) []Explanation {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "golden-explain", "*.json*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no explained golden cases: %s has no golden-explain/*.json (%v)", folder, err)
	}
	slices.Sort(paths)
	var explained []Explanation
	for _, path := range paths {
		more, err := readExplanation(path, filepath.Join(folder, "golden", filepath.Base(path)))
		if err != nil {
			t.Fatal(err)
		}
		explained = append(explained, more...)
	}
	return explained
}

// readExplanation reads the explanations in a file, which belong to the case in another one.
func readExplanation(path, casePath string) ([]Explanation, error) {
	c, err := Read(casePath)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err == nil {
		text, err = decompress(path, text)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the explanations of a golden case: %w", err)
	}
	var f struct {
		K       int `json:"k"`
		Queries []struct {
			Query  int               `json:"query"`
			Answer int32             `json:"answer"`
			Score  float64           `json:"score"`
			Layers [][]ExplainedEdge `json:"layers"`
			Paths  []ExplainedPath   `json:"paths"`
		} `json:"queries"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("reading the explanations of a golden case %s: %w", path, err)
	}
	// Each explanation points to its query in the case.
	var explained []Explanation
	for _, q := range f.Queries {
		if q.Query < 0 || q.Query >= len(c.Queries) || q.Answer < 0 || int(q.Answer) >= c.Graph.Entities {
			return nil, fmt.Errorf("reading the explanations of a golden case %s: query %d or answer %d is out of range", path, q.Query, q.Answer)
		}
		explained = append(explained, Explanation{
			Case: c, Query: c.Queries[q.Query], Answer: q.Answer, Score: q.Score, Layers: q.Layers, Paths: q.Paths, K: f.K,
		})
	}
	if len(explained) == 0 {
		return nil, fmt.Errorf("reading the explanations of a golden case %s: it has none", path)
	}
	return explained, nil
}
