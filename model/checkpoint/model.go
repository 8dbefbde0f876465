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

// Locate tells which folder and name a user means by a checkpoint: best, last, the number or
// name of an epoch in the folder given, or the path of a checkpoint's file anywhere.
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

// Model loads a checkpoint (as Load names it) as the weights of its model, and checks that they
// are for these base relations, and were trained on the graph with this vocabulary hash.
func (f Folder) Model(ctx context.Context, name string, relations []string, vocabulary string) (Record, *parameters.Set[float32], error) {
	r, weights, err := f.Load(ctx, name)
	if err != nil {
		return r, nil, err
	}
	url := f.url(r.Name() + ".safetensors")
	if err := sameRelations(r.Vocabulary.Relations, relations); err != nil {
		return r, nil, fmt.Errorf("%s: %w: %w", url, ErrMismatch, err)
	}
	if r.Vocabulary.Hash != vocabulary {
		return r, nil, fmt.Errorf("%s: %w: its entities (%d) are others than the training graph's; "+
			"use the workspace it was trained in, and preprocess --inference for another graph to ask", url, ErrMismatch, r.Vocabulary.Entities)
	}
	p := parameters.NewSet[float32](parameters.Layout(r.Configuration, 2*len(relations)))
	if err := Fill(p, weights); err != nil {
		return r, nil, fmt.Errorf("%s: %w", url, err)
	}
	return r, p, nil
}

// sameRelations names a relation that only one side has.
func sameRelations(trained, wanted []string) error {
	known := map[string]bool{}
	for _, name := range trained {
		known[name] = true
	}
	for _, name := range wanted {
		if !known[name] {
			return fmt.Errorf("it never saw the relation %q", name)
		}
		delete(known, name)
	}
	for _, name := range trained {
		if known[name] {
			return fmt.Errorf("it has a relation %q that the graph has not", name)
		}
	}
	for i, name := range trained {
		if wanted[i] != name {
			return fmt.Errorf("its relation %d is %q, the graph's is %q", i, name, wanted[i])
		}
	}
	return nil
}
