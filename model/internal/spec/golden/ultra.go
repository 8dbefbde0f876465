package golden

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"tagnet/formats/input/pytorch"
	"tagnet/model/graph"
	"tagnet/model/pretrained"
	"tagnet/model/weights/parameters"
)

// ULTRA is a graph, and what an independent implementation in float64 computes of it with weights that
// ULTRA's authors published.
type ULTRA struct {
	// Weights is the name of a published file.
	Weights   string
	Entities  int        `json:"num_entities"`
	Relations int        `json:"num_relations"` // base relations
	Facts     [][3]int32 `json:"triples"`
	// RelationGraph has the edges of each type by the name in ULTRATypes, as (receiver, sender), sorted.
	RelationGraph map[string][][2]int32   `json:"relation_graph"`
	BaseRelations map[int32]ULTRARelation `json:"base_relations"`
	Queries       []ULTRAQuery
}

// ULTRARelation has the results that queries of a base relation share. All but Final may be nil.
type ULTRARelation struct {
	Final  tensor         // states of the relations after the last layer
	Layers []tensor       // after 0 to 6 layers
	Tables map[int]tensor // of messages, in the order of the weights, by layer, from 1
}

// ULTRAQuery is a query with its results.
type ULTRAQuery struct {
	graph.Query
	Base   int32
	Scores tensor
	// RankLeast and RankMost count ties, of scores within 1e-6, for and against the answer. Other answers in the graph
	// are no candidates.
	RankLeast int64    `json:"filtered_rank_least"`
	RankMost  int64    `json:"filtered_rank_most"`
	Layers    []tensor // entity states after 0 to 6 layers, or nil
}

// ULTRATypes are the names of the types of edges between relations, in the order of the model's weights.
var ULTRATypes = [...]string{"hh", "tt", "ht", "th"}

// ULTRACases reads the cases of the folder that ULTRA_GOLDEN_DIR names, or of ../shared/golden-ultra beside the
// module's root, by name. It skips the test where there are none.
func ULTRACases(t testing.TB) map[string]*ULTRA {
	t.Helper()
	return foreign(t, "ULTRA_GOLDEN_DIR", "golden-ultra", func(text []byte) (*ULTRA, error) {
		c := &ULTRA{}
		return c, json.Unmarshal(text, c)
	})
}

// Graph returns the graph of the case.
func (c *ULTRA) Graph(t testing.TB) *graph.Graph {
	t.Helper()
	g, err := newGraph(c.Entities, c.Relations, c.Facts)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// Known returns the answers of a query in the graph, ascending.
func (c *ULTRA) Known(q ULTRAQuery) (known []int32) {
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

// Data returns the folder of data sets that TAGNET_DATA names, or ../shared/data beside the module's root.
func Data(t testing.TB) string {
	t.Helper()
	return cmp.Or(os.Getenv("TAGNET_DATA"), filepath.Join(moduleRoot(t), "..", "shared", "data"))
}

// Published returns the weights of a published file, ultra/NAME in the folder of data sets. Without it
// the test is skipped.
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
	p, err := pretrained.ULTRAParameters(f)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
