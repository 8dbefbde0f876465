package worker

import (
	"context"
	"fmt"

	"tagnet/model/answer"
	"tagnet/model/graph/kg"
	"tagnet/model/pretrained"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/parameters"
)

// Model opens a checkpoint, named as for checkpoint.Folder.Record, over a graph whose relations it must know. The
// process reads and verifies the file of weights once; models share the parameters, and nobody may change them.
func Model(ctx context.Context, folder checkpoint.Folder, name string, loaded *kg.KG) (*answer.Model, error) {
	record, err := folder.Record(ctx, name)
	if err != nil {
		return nil, err
	}
	set, err := parametersOf(folder, record, loaded, func() (*parameters.Set[float32], error) {
		read, err := pretrained.Ref{Folder: folder, Name: record.Name()}.Open(ctx)
		if err != nil {
			return nil, err
		}
		if read.Record.Weights.SHA256 != record.Weights.SHA256 {
			return nil, fmt.Errorf("%s of %s was overwritten while it was read: run again", record.Name(), folder)
		}
		set, _, err := read.Over(loaded.Relations)
		return set, err
	})
	if err != nil {
		return nil, err
	}
	return answer.New(loaded, record, set, answer.Resources{}), nil
}

// KeepParameters lets Model find the parameters of a model that this process has opened from its
// folder, or saved there.
func KeepParameters(m *answer.Model) {
	_, _ = parametersOf(m.Folder, m.Record, m.KG, func() (*parameters.Set[float32], error) { return m.Parameters, nil })
}

// parametersOf returns the parameters of a record of a folder over a graph, from the cache or by calling load.
func parametersOf(folder checkpoint.Folder, r checkpoint.Record, g *kg.KG, load func() (*parameters.Set[float32], error)) (*parameters.Set[float32], error) {
	type version struct{ weights, graph string } // checksums
	return Load(Key{Kind: "weights", URL: string(folder)}, version{r.Weights.SHA256, g.Manifest.Checksum}, load)
}
