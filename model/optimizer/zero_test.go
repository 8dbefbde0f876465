package optimizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/inference"
	"tagnet/model/internal/golden"
	"tagnet/model/kernel"
	"tagnet/model/parameters"
)

// zeroCase is a golden case of a window with relations from a graph.
type zeroCase struct {
	Entities, Relations int
	Facts               [][3]int32
	Configuration       struct {
		Dim, Layers, Delta int
		RelationLayers     int `json:"relation_layers"`
		Ground             bool
	}
	Parameters map[string]struct{ Data []float64 }
	Queries    []struct {
		Source, Relation int32
		Score            struct{ Data []float64 }
	}
	Training []struct {
		Source, Relation, Answer int32
		Negatives                []int32
		Temperature              float64 `json:"adversarial_temperature"`
		Loss                     float64
		Gradients                map[string]struct{ Data []float64 }
	}
}

// zeroSet returns the parameters, or gradients, of a case in the layout of a configuration.
func zeroSet(t *testing.T, c configuration.Configuration, of map[string]struct{ Data []float64 }) (*parameters.Set[float64], *parameters.Set[float32]) {
	t.Helper()
	wide, narrow := parameters.NewSet[float64](parameters.Layout(c, 0)), parameters.NewSet[float32](parameters.Layout(c, 0))
	if len(of) != len(wide.Tensors) {
		t.Fatalf("the case has %d tensors, the layout %d", len(of), len(wide.Tensors))
	}
	for i, tensor := range wide.Tensors {
		if n := copy(tensor.Data, of[tensor.Name].Data); n != len(tensor.Data) {
			t.Fatalf("%s has %d values, want %d", tensor.Name, n, len(tensor.Data))
		}
		for j, v := range tensor.Data {
			narrow.Tensors[i].Data[j] = float32(v)
		}
	}
	return wide, narrow
}

// TestGoldenWindowWithRelationsFromAGraph compares scores, losses and gradients of windows whose relations come from a graph of them.
func TestGoldenWindowWithRelationsFromAGraph(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(golden.ModuleRoot(t), "..", "shared", "golden-zero", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("there are no cases in ../shared/golden-zero")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var z zeroCase
		if err := json.Unmarshal(text, &z); err != nil {
			t.Fatal(err)
		}
		if z.Configuration.Ground {
			continue // is not part of the model here
		}
		for _, k := range kernel.Available() {
			t.Run(filepath.Base(file)+"/"+k.Name(), func(t *testing.T) { compareZero(t, &z, k) })
		}
	}
}

func compareZero(t *testing.T, z *zeroCase, k kernel.Kernel) {
	t.Helper()
	c := configuration.Default()
	c.Relations, c.RelationLayers = configuration.RelationsGraph, z.Configuration.RelationLayers
	c.Layers, c.Delta, c.Dim, c.Aggregate = z.Configuration.Layers, z.Configuration.Delta, z.Configuration.Dim, configuration.AggregateSum
	c.Negatives, c.AdversarialTemperature = len(z.Training[0].Negatives), z.Training[0].Temperature
	var facts []graph.Fact
	for _, f := range z.Facts {
		facts = append(facts, graph.Fact{Head: f[0], Relation: f[1], Tail: f[2]})
	}
	g, err := graph.New(z.Entities, z.Relations, facts)
	if err != nil {
		t.Fatal(err)
	}
	_, p := zeroSet(t, c, z.Parameters)
	scorer, err := inference.New(g, nil, c, p, k)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range z.Queries {
		scores := make([]float32, g.Entities)
		if err := scorer.Worker().Scores(t.Context(), q.Source, []int32{q.Relation}, [][]float32{scores}); err != nil {
			t.Fatal(err)
		}
		if err := golden.Compare("scores", scores, q.Score.Data, golden.Tolerance32); err != nil {
			t.Errorf("query %d: %v", i, err)
		}
	}
	trainer, err := New(g, nil, c, p, NewSolver(c, g.RelationCount(), k), 2, k)
	if err != nil {
		t.Fatal(err)
	}
	sum, loss, count := parameters.NewSet[float64](parameters.Layout(c, 0)), 0.0, float64(len(z.Training))
	var batch []Example
	for _, q := range z.Training {
		batch = append(batch, Example{Source: q.Source, Relation: q.Relation, Answer: q.Answer, Negatives: q.Negatives})
		loss += q.Loss / count
		wide, _ := zeroSet(t, c, q.Gradients)
		for i, tensor := range wide.Tensors {
			for j, v := range tensor.Data {
				sum.Tensors[i].Data[j] += v / count
			}
		}
	}
	result, err := trainer.differentiate(batch, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := golden.Compare("loss", []float64{result.Loss}, []float64{loss}, golden.Tolerance32); err != nil {
		t.Error(err)
	}
	if err := golden.CompareSets(trainer.gradients, sum, golden.Tolerance32); err != nil {
		t.Errorf("gradients: %v", err)
	}
}
