package worker

import (
	"context"
	"fmt"

	"tagnet/model/checkpoint"
	"tagnet/model/kg"
	"tagnet/model/parameters"
)

// Weights returns the record of a checkpoint, named as for checkpoint.Folder.Record, and the
// parameters of its model, which must fit the graph. The process reads and verifies the file of
// weights once; callers share the parameters and must not change them. Errors are those of
// checkpoint.Folder.Model.
func Weights(ctx context.Context, folder checkpoint.Folder, name string, loaded *kg.KG) (checkpoint.Record, *parameters.Set[float32], error) {
	record, err := folder.Record(ctx, name)
	if err != nil {
		return record, nil, err
	}
	type version struct{ weights, graph string } // checksums
	v := version{record.Weights.SHA256, loaded.Manifest.Checksum}
	set, err := Load(Key{Kind: "weights", URL: string(folder)}, v, func() (*parameters.Set[float32], error) {
		read, set, err := folder.Model(ctx, record.Name(), loaded.Relations)
		if err == nil && read.Weights.SHA256 != record.Weights.SHA256 {
			err = fmt.Errorf("%s of %s was overwritten while it was read: run again", record.Name(), folder)
		}
		return set, err
	})
	return record, set, err
}
