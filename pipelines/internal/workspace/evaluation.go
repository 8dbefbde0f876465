package workspace

import (
	"context"
	"encoding/json"
	"fmt"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
)

// Complete reports whether a folder has a manifest and was made from its inputs as they are now. It
// does not verify the files: Require does.
func (w Workspace) Complete(ctx context.Context, folder string) bool {
	m, err := manifest.Read(ctx, w.Path(folder))
	if err != nil {
		return false
	}
	for input, hash := range m.Inputs {
		if now, err := w.hash(ctx, input); err != nil || now != hash {
			return false
		}
	}
	return true
}

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
