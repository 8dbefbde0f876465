package golden

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
	"tagnet/model/weights/parameters"
)

// tiny returns a case of one layer, one dimension and two entities, in the format on disk.
func tiny(t *testing.T) map[string]any {
	t.Helper()
	config := map[string]any{"dim": 1, "layers": 1, "delta": 1, "policy": "window", "aggregate": "sum", "message": "distmult",
		"dependent": false, "degree_messages": false, "delta_mode": "fixed", "attention": nil, "temperature": 1,
		"adversarial_temperature": 0.5, "remove": "triple", "bias": false}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	c, err := readConfiguration(text)
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]any{}
	for _, l := range parameters.Layout(c, 2) {
		set[l.Name] = map[string]any{"shape": l.Shape, "data": make([]float64, l.Size())}
	}
	array := func(shape ...int) map[string]any {
		return map[string]any{"shape": shape, "data": make([]float64, parameters.Shape{Shape: shape}.Size())}
	}
	query := map[string]any{
		"source": 0, "relation": 1, "answer": 1, "removed": "one_hop", "negatives": []int{0}, "distance": []int{0, 255},
		"layers":  []any{map[string]any{"active": 1, "kept": 2, "kept_empty": 3, "pruned_empty": 4, "pruned_redundant": 5}},
		"hiddens": []any{array(2, 1), array(2, 1)}, "final": array(2, 1), "score": array(2), "loss": 0.5, "raw_rank_pessimistic": 2,
	}
	return map[string]any{"config": config, "num_nodes": 2, "num_relations": 2, "triples": [][]int{{0, 0, 1}},
		"parameters": set, "gradients": set, "queries": []any{query}, "batch_loss": 0.5}
}

func write(t *testing.T, content map[string]any) string {
	t.Helper()
	text, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tiny.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestRead(t *testing.T) {
	t.Parallel()
	c, err := Read(write(t, tiny(t)))
	if err != nil {
		t.Fatal(err)
	}
	if c.Name != "tiny" || c.Graph.Entities != 2 || c.Configuration.Remove != configuration.RemoveTriple {
		t.Errorf("read %+v", c)
	}
	q := c.Queries[0]
	if want := (graph.Query{Source: 0, Relation: 1, Answer: 1, Removal: graph.RemoveOneHop}); q.Query != want {
		t.Errorf("query is %+v, want %+v", q.Query, want)
	}
	if want := (Layer{Active: 1, Kept: 2, KeptEmpty: 3, PrunedEmpty: 4, PrunedRedundant: 5}); q.Layers[0] != want {
		t.Errorf("layer is %+v, want %+v", q.Layers[0], want)
	}
	if q.Distances[1] != 255 || q.Attention != nil || q.Priority != nil {
		t.Errorf("query is %+v", q)
	}
}

// TestReadRefuses checks that a missing or unfit field is an error, not zero.
func TestReadRefuses(t *testing.T) {
	t.Parallel()
	for place, values := range map[string]map[string]any{
		"case": {"num_relations": 3, "num_nodes": 1, "batch_loss": nil, "queries": []any{}, "parameters": map[string]any{},
			"gradients": nil, "config": map[string]any{}, "triples": [][]int{{0, 1, 1}}},
		"query": {"source": 2, "relation": 2, "answer": -1, "removed": "all", "negatives": []int{}, "distance": []int{0},
			"layers": []any{}, "hiddens": []any{}, "final": nil, "score": map[string]any{"shape": []int{2}, "data": []int{0}},
			"loss": nil, "raw_rank_pessimistic": nil},
	} {
		for field, value := range values {
			content := tiny(t)
			if place == "query" {
				content["queries"].([]any)[0].(map[string]any)[field] = value
			} else {
				content[field] = value
			}
			path := write(t, content)
			if _, err := Read(path); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("%s with %s = %v: error is %v", place, field, value, err)
			}
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "absent.json")); err == nil {
		t.Error("an absent file is no error")
	}
}
