package golden

import (
	"encoding/json"
	"fmt"
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
	return foreign(t, "ZERO_GOLDEN_DIR", "golden-zero", parseZero)
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
	if z.Graph, err = newGraph(f.Entities, f.Relations, f.Facts); err != nil {
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
