package golden

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// Zero is a case of a model whose relations come from their graph, by an independent implementation of windows with it.
// Unlike a Case it has queries in the whole graph, and training queries with gradients of their own.
type Zero struct {
	Configuration configuration.Configuration
	Graph         *graph.Graph
	Parameters    *parameters.Set[float64]
	Queries       []ZeroQuery
	Training      []ZeroExample
}

// ZeroQuery is a query, asked in the whole graph.
type ZeroQuery struct {
	graph.Query
	Distance []int // -1 where it is not reached
	// States are the final states of all relations, [2R*d], Score the logits of all entities, [V].
	States tensor `json:"relation_states"`
	Score  tensor
}

// ZeroExample is a training query, whose fact leaves the query's graph and stays in the relations' graph.
type ZeroExample struct {
	graph.Query
	Negatives []int32
	Loss      float64
	Logits    tensor // of the answer and the negatives
	// Gradients are the gradients of Loss, in the layout of the parameters.
	Gradients *parameters.Set[float64]
}

// zeroFile is a case as it is on disk.
type zeroFile struct {
	Entities, Relations int
	Facts               [][3]int32
	Configuration       map[string]any
	Parameters          map[string]tensor
	Queries             []ZeroQuery
	Training            []struct {
		ZeroExample
		Temperature float64 `json:"adversarial_temperature"`
		Gradients   map[string]tensor
	}
}

// ZeroCases reads the cases of the folder that ZERO_GOLDEN_DIR names, or of ../shared/golden-zero beside the module's
// root, by name. It skips the test where there are none.
func ZeroCases(t testing.TB) map[string]*Zero {
	t.Helper()
	folder := os.Getenv("ZERO_GOLDEN_DIR")
	if folder == "" {
		folder = filepath.Join(moduleRoot(t), "..", "shared", "golden-zero")
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Skipf("%s has no golden cases (ZERO_GOLDEN_DIR names another folder)", folder)
	}
	cases := map[string]*Zero{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		z, err := parseZero(text)
		if err != nil {
			t.Fatalf("reading golden case %s: %v", path, err)
		}
		cases[filepath.Base(path)] = z
	}
	return cases
}

// parseZero reads a model with relations from a graph, and its training examples.
func parseZero(text []byte) (*Zero, error) {
	var f zeroFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	z := &Zero{Configuration: configuration.Default(), Queries: f.Queries}
	z.Configuration.Relations = configuration.RelationsGraph
	settings, err := f.settings()
	if err != nil {
		return nil, err
	}
	if err := z.Configuration.Parse(settings); err != nil {
		return nil, err
	}
	// The graph, and the parameters in its layout.
	facts := make([]graph.Fact, len(f.Facts))
	for i, fact := range f.Facts {
		facts[i] = graph.Fact{Head: fact[0], Relation: fact[1], Tail: fact[2]}
	}
	if z.Graph, err = graph.New(f.Entities, f.Relations, facts); err != nil {
		return nil, err
	}
	layout := parameters.Layout(z.Configuration, z.Graph.RelationCount())
	if z.Parameters, err = readSet(layout, f.Parameters); err != nil {
		return nil, err
	}
	// An example's loss depends on its number of negatives and its temperature.
	for _, e := range f.Training {
		e.Removal = z.Graph.RemovalOf(e.Query)
		if e.ZeroExample.Gradients, err = readSet(layout, e.Gradients); err != nil {
			return nil, err
		}
		z.Training = append(z.Training, e.ZeroExample)
		z.Configuration.AdversarialTemperature, z.Configuration.Negatives = e.Temperature, len(e.Negatives)
	}
	return z, z.Configuration.Validate()
}

// settings returns the configuration as Parse reads it: without the key of a ground at the head,
// which no model here has.
func (f zeroFile) settings() ([]byte, error) {
	if ground := f.Configuration["ground"]; ground != nil && ground != false {
		return nil, fmt.Errorf("ground is %v: want false", ground)
	}
	delete(f.Configuration, "ground")
	return json.Marshal(f.Configuration)
}
