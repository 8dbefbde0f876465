package zeroshot

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"tagnet/formats/workspace/manifest"
	"tagnet/model/zoo"
)

// Weights are the weights of a model, which exist.
type Weights struct {
	Model
	// sha256 is the checksum of their file, and value how train --from and, with flag, score name them.
	sha256, flag, value string
}

// Open finds the weights of a model of the list below the folder of the data, or among those that tagnet comes with.
func (m Model) Open(ctx context.Context, data string) (Weights, error) {
	if m.Model != "" {
		known, err := zoo.Open(m.Model)
		if err != nil {
			return Weights{}, fmt.Errorf("model %s: %w; name a file of its weights, %[1]s=FILE, or leave it out", m.Name, err)
		}
		return Weights{Model: m, sha256: known.Record.Weights.SHA256, flag: "--model", value: m.Model}, nil
	}
	w, err := m.OpenFile(ctx, filepath.Join(data, m.File))
	if err == nil && w.sha256 != m.SHA256 {
		err = fmt.Errorf("model %s: %s has SHA-256 %s, and the list %s: it is another file", m.Name, w.value, w.sha256, m.SHA256)
	}
	return w, err
}

// OpenFile finds weights in a file instead, one of PyTorch (.pth) or a checkpoint of train.
func (m Model) OpenFile(ctx context.Context, path string) (Weights, error) {
	file, err := manifest.HashFile(ctx, path)
	if err != nil {
		return Weights{}, fmt.Errorf("model %s: %w", m.Name, err)
	}
	absolute, err := filepath.Abs(path) // a name without a folder would be one of the run's checkpoints
	if err != nil {
		return Weights{}, err
	}
	w := Weights{Model: m, sha256: file.SHA256, flag: "--checkpoint", value: absolute}
	if strings.HasSuffix(path, ".pth") || strings.HasSuffix(path, ".pt") {
		w.flag = "--model"
	}
	return w, nil
}
