package workspace

import (
	"context"
	"encoding/json"
	"fmt"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
)

// EvaluatedCheckpoint tells of which checkpoint a split's evaluation is: its name, and the SHA-256
// of its weights. It is an error that wraps fs.ErrNotExist if there is no evaluation.
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
