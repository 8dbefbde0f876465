package golden

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tagnet/formats/pytorch"
	"tagnet/model/graph"
	"tagnet/model/internal/golden"
	"tagnet/model/parameters"
	"tagnet/model/ultra"
	"tagnet/model/ultra/ultratest"
)

// Tensor is an array, row-major.
type Tensor struct {
	Shape []int     `json:"shape"`
	Data  []float64 `json:"data"`
}

// Case is a graph with the model's results.
type Case struct {
	// Weights is the name of a published file, or empty for weights that are drawn from Seed.
	Weights   string     `json:"weights,omitempty"`
	Seed      uint64     `json:"seed,omitempty"`
	Entities  int        `json:"num_entities"`
	Relations int        `json:"num_relations"` // base relations
	Facts     [][3]int32 `json:"triples"`
	// RelationGraph has the edges of each type, hh, tt, ht and th, as (receiver, sender), sorted.
	RelationGraph map[string][][2]int32  `json:"relation_graph"`
	BaseRelations map[int32]BaseRelation `json:"base_relations"`
	Queries       []Query                `json:"queries"`
}

// BaseRelation has the results that queries of a base relation share. All but Final may be nil.
type BaseRelation struct {
	Final  Tensor         `json:"final"`            // states of the relations after the last layer
	Layers []Tensor       `json:"layers,omitempty"` // after 0 to 6 layers
	Tables map[int]Tensor `json:"tables,omitempty"` // by layer, from 1
	Ground []Tensor       `json:"ground,omitempty"` // entity states without a source, after 0 to 6 layers
}

// Query is a query with its results.
type Query struct {
	Source   int32  `json:"source"`
	Relation int32  `json:"relation"` // or that of the inverse, base + R
	Base     int32  `json:"base"`
	Scores   Tensor `json:"scores"`
	Answer   int32  `json:"answer"`
	// RankLeast and RankMost count ties, of scores within 1e-6, for and against the answer. Other answers in the graph are no
	// candidates.
	RankLeast int64    `json:"filtered_rank_least"`
	RankMost  int64    `json:"filtered_rank_most"`
	Layers    []Tensor `json:"layers,omitempty"` // entity states after 0 to 6 layers, or nil
}

// Types are the names of the types of edges between relations, in the order of the model's weights.
var Types = [...]string{"hh", "tt", "ht", "th"}

// Graph returns the graph of the case.
func (c *Case) Graph(t testing.TB) *graph.Graph {
	t.Helper()
	facts := make([]graph.Fact, len(c.Facts))
	for i, f := range c.Facts {
		facts[i] = graph.Fact{Head: f[0], Relation: f[1], Tail: f[2]}
	}
	g, err := graph.New(c.Entities, c.Relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Known returns the answers of a query in the graph, ascending.
func (c *Case) Known(q Query) (known []int32) {
	for _, f := range c.Facts {
		if f[1] == q.Base && q.Relation == q.Base && f[0] == q.Source {
			known = append(known, f[2])
		}
		if f[1] == q.Base && q.Relation != q.Base && f[2] == q.Source {
			known = append(known, f[0])
		}
	}
	slices.Sort(known)
	return slices.Compact(known)
}

// Parameters returns the weights of the case. Without the published files the test is skipped.
func (c *Case) Parameters(t testing.TB) *parameters.Set[float32] {
	t.Helper()
	if c.Weights == "" {
		return ultratest.Drawn(c.Seed)
	}
	return Published(t, c.Weights)
}

// Data returns the folder of data sets that TAGNET_DATA names, or ../shared/data beside the module's root.
func Data(t testing.TB) string {
	t.Helper()
	if data := os.Getenv("TAGNET_DATA"); data != "" {
		return data
	}
	return filepath.Join(golden.ModuleRoot(t), "..", "shared", "data")
}

// Published returns the weights of a published file, ultra/NAME in the folder of data sets. Without it the test is skipped.
func Published(t testing.TB, name string) *parameters.Set[float32] {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(Data(t), "ultra", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no published weights of ULTRA (TAGNET_DATA names their folder): %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	f, err := pytorch.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := ultra.Parameters(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Own is the case of the repository.
const Own = "own"

// Cases returns the case of the repository, which package reference computed with weights drawn from a seed, and those of the
// folder that ULTRA_GOLDEN_DIR names, or of ../shared/golden-ultra beside the module's root, by name.
func Cases(t testing.TB) map[string]*Case {
	t.Helper()
	folder := os.Getenv("ULTRA_GOLDEN_DIR")
	if folder == "" {
		folder = filepath.Join(golden.ModuleRoot(t), "..", "shared", "golden-ultra")
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Logf("only the golden case of the repository: %s has none (ULTRA_GOLDEN_DIR names another folder)", folder)
	}
	cases := map[string]*Case{Own: read(t, Path(t))}
	for _, path := range paths {
		cases[filepath.Base(path)] = read(t, path)
	}
	return cases
}

// Path returns the path of the repository's case.
func Path(t testing.TB) string {
	t.Helper()
	return filepath.Join(golden.ModuleRoot(t), "model", "ultra", "internal", "golden", "testdata", Own+".json")
}

func read(t testing.TB, path string) *Case {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := &Case{}
	if err := json.Unmarshal(text, c); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return c
}
