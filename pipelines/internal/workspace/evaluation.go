package workspace

import (
	"context"
	"encoding/json"
	"fmt"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
)

// EvaluatedCheckpoint returns the name of the checkpoint that a split was evaluated with, and the
// SHA-256 of its weights. The error wraps fs.ErrNotExist if there is no evaluation.
func (w Workspace) EvaluatedCheckpoint(ctx context.Context, split string) (name, weights string, err error) {
	m, err := manifest.Read(ctx, w.Evaluation(split))
	if err != nil {
		return "", "", err
	}
	var of struct{ Checkpoint, Weights string }
	if err := json.Unmarshal(m.Configuration, &of); err != nil {
		return "", "", fmt.Errorf("the configuration in %s: %w", storage.Join(w.Evaluation(split), manifest.FileName), err)
	}
	return of.Checkpoint, of.Weights, nil
}
