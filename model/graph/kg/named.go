package kg

import (
	"context"
	"encoding/json"
)

// All names the graph of all facts, in place of a split, whose name stands for the graph of its queries.
const All = "all"

// On returns the graph of AllFacts for All, and View for a split.
func (k *KG) On(ctx context.Context, name string) (*View, error) {
	if name == All {
		return k.AllFacts(ctx)
	}
	return k.View(name), nil
}

// IsDivided reports whether preprocess drew the facts of validation and test from one file. Facts in files of their own
// may have been chosen.
func (k *KG) IsDivided() bool {
	var recorded struct {
		Split string `json:"split"`
	}
	return json.Unmarshal(k.Manifest.Configuration, &recorded) == nil && recorded.Split != ""
}
