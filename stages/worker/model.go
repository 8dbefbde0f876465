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

// Model opens a checkpoint, named as for checkpoint.Folder.Record, over a graph whose relations it must know. The process reads and verifies the
// file of weights once; models share the parameters, and nobody may change them.
func Model(ctx context.Context, folder checkpoint.Folder, name string, loaded *kg.KG) (*answer.Model, error) {
	record, err := folder.Record(ctx, name)
	if err != nil {
		return nil, err
	}
	type version struct{ weights, graph string } // checksums
	v := version{record.Weights.SHA256, loaded.Manifest.Checksum}
	set, err := Load(Key{Kind: "weights", URL: string(folder)}, v, func() (*parameters.Set[float32], error) {
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
	return answer.New(loaded, record, set, answer.Means{}), nil
}
