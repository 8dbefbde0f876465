package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"tagnet/model/parameters"
)

// Locate returns the folder and the name, for Folder.Record, of a checkpoint as users write it: best, last, or the
// number or name of an epoch in folder, or the path of a checkpoint's file in any folder.
func Locate(folder Folder, checkpoint string) (Folder, string) {
	name := checkpoint
	if i := strings.LastIndexAny(checkpoint, "/\\"); i >= 0 {
		folder, name = Folder(checkpoint[:max(i, 1)]), checkpoint[i+1:] // the root keeps its slash
	}
	for _, ending := range endings {
		name = strings.TrimSuffix(name, ending)
	}
	if epoch, err := strconv.Atoi(name); err == nil {
		name = EpochName(epoch)
	}
	return folder, path.Clean(name)
}

// ErrMismatch is wrapped by the errors of a checkpoint that was trained on other data.
var ErrMismatch = errors.New("the checkpoint was trained on other data")

// Model returns the record of a checkpoint, named as for Record, and the parameters of its model over the relations of a graph, as Over does.
func (f Folder) Model(ctx context.Context, name string, relations []string) (Record, *parameters.Set[float32], error) {
	r, weights, err := f.Load(ctx, name)
	if err != nil {
		return r, nil, err
	}
	p, _, err := r.Over(weights, relations)
	if err != nil {
		return r, nil, fmt.Errorf("%s: %w", f.url(r.Name()+".safetensors"), err)
	}
	return r, p, nil
}
