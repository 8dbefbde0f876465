package workspace

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/weights/checkpoint"
)

// Complete reports whether a folder has a manifest and was made from its inputs as they are now. Unlike
// Require it does not verify the files.
func (w Workspace) Complete(ctx context.Context, folder string) bool {
	m, err := manifest.Read(ctx, w.Path(folder))
	if err != nil {
		return false
	}
	for input, hash := range m.Inputs {
		if now, err := w.Checksum(ctx, input); err != nil || now != hash {
			return false
		}
	}
	return true
}

// Evaluated is the model that an evaluation, answers or a list came from, as their manifests have it.
type Evaluated struct {
	Checkpoint string `json:"checkpoint"`
	// Weights is the SHA-256 of the checkpoint's weights.
	Weights string `json:"weights"`
	TopK    int    `json:"top_k"`
	// Reach is configuration.Configuration.Reach, as in training or of --reach.
	Reach int `json:"reach,omitempty"`
	// GivenModel is the model of --model, or nil.
	GivenModel *checkpoint.Origin `json:"given,omitempty"`
	// From is the file that the checkpoint was trained from if its weights belong to no relations, nil with --model.
	From *checkpoint.Origin `json:"from,omitempty"`
	// Tables are the parquet.Versions of the results.
	Tables map[string]string `json:"tables"`
}

// Model returns the model's name for a message.
func (m Evaluated) Model() string {
	if m.GivenModel == nil {
		return m.Checkpoint
	}
	return "--model " + cmp.Or(m.GivenModel.Model, m.GivenModel.File)
}

// EvaluatedCheckpoint returns the model of the evaluation, the answers or the list in a folder. The
// error wraps fs.ErrNotExist if there is no such folder.
func (w Workspace) EvaluatedCheckpoint(ctx context.Context, folder string) (evaluated Evaluated, err error) {
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return evaluated, err
	}
	if err := json.Unmarshal(m.Configuration, &evaluated); err != nil {
		return evaluated, fmt.Errorf("the configuration in %s: %w", storage.Join(folder, manifest.FileName), err)
	}
	return evaluated, nil
}
