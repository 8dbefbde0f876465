package learn

import (
	"context"
	"fmt"

	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/training"
	"tagnet/stages/graph"
)

// Mixture are the graphs of a training on several.
type Mixture struct {
	// Description names them. Its checksums are compared with those of the graphs.
	Description checkpoint.Mixture
	// Graphs and Valid are the URLs of the graphs' folders, in the order of the description.
	Graphs, Valid []string
}

// read reads the graphs, of which each has at most limit validation queries unless that is 0.
func (m *Mixture) read(ctx context.Context, c configuration.Configuration, limit int64) (*training.Mixture, error) {
	out := &training.Mixture{Description: m.Description}
	for i, url := range m.Graphs {
		loaded, err := graph.Load(ctx, url)
		if err != nil {
			return nil, err
		}
		if err := same(m.Description.Graphs[i], url, loaded.Manifest.Checksum); err != nil {
			return nil, err
		}
		material, err := training.MaterialOf(ctx, loaded, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", url, err)
		}
		out.Materials = append(out.Materials, material)
	}
	for i, url := range m.Valid {
		loaded, err := graph.Load(ctx, url)
		if err != nil {
			return nil, err
		}
		if err := same(m.Description.Valid[i], url, loaded.Manifest.Checksum); err != nil {
			return nil, err
		}
		trial, err := training.TrialOf(ctx, m.Description.Valid[i].Name, loaded, limit, c)
		if err != nil {
			return nil, err
		}
		out.Trials = append(out.Trials, trial)
	}
	return out, nil
}

// same returns an error unless the graph of a URL is the one that was described.
func same(described checkpoint.Seen, url, sum string) error {
	if described.Checksum != sum {
		return fmt.Errorf("%s has changed since the training began", url)
	}
	return nil
}
