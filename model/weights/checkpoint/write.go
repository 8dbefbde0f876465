package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/safetensors"
)

// Save writes a checkpoint: the weights, the optimizer's state and last the record, with the checksums of both.
// Readers ignore the files until the record exists.
func (f Folder) Save(ctx context.Context, r Record, weights, optimizer []safetensors.Tensor[float32]) error {
	name := r.Name()
	var err error
	if r.Weights, err = f.write(ctx, name+".safetensors", weights); err != nil {
		return err
	}
	if r.Optimizer, err = f.write(ctx, name+".optimizer.safetensors", optimizer); err != nil {
		return err
	}
	return f.Amend(ctx, r)
}

// Amend writes the record of a checkpoint again.
func (f Folder) Amend(ctx context.Context, r Record) error {
	data, err := r.encode()
	if err != nil {
		return err
	}
	return storage.WriteFile(ctx, f.url(r.Name()+".json"), data)
}

func (f Folder) write(ctx context.Context, name string, tensors []safetensors.Tensor[float32]) (manifest.File, error) {
	data, err := safetensors.Encode(tensors)
	if err != nil {
		return manifest.File{}, fmt.Errorf("writing %s: %w", f.url(name), err)
	}
	return manifest.HashBytes(name, data), storage.WriteFile(ctx, f.url(name), data)
}

// WeightsFile describes the file of weights that Save writes for a record.
func WeightsFile(r Record, weights []safetensors.Tensor[float32]) (manifest.File, error) {
	data, err := safetensors.Encode(weights)
	if err != nil {
		return manifest.File{}, fmt.Errorf("encoding the weights of %s: %w", r.Name(), err)
	}
	return manifest.HashBytes(r.Name()+".safetensors", data), nil
}

// Prune removes files that training no longer needs: the optimizer's states of all but the newest two epochs,
// positions inside an epoch that a finished epoch or a later position has overtaken, and files without a record.
func (f Folder) Prune(ctx context.Context) error {
	records, damaged, err := f.Records(ctx)
	if err != nil {
		return err
	}
	// From the newest record back: a position inside an epoch stays only if it is the newest.
	kept := map[string]bool{}
	epochs := 0
	for i, r := range slices.Backward(records) {
		name := r.Name()
		if r.Partial != nil {
			if i == len(records)-1 {
				kept[name+".json"], kept[name+".safetensors"], kept[name+".optimizer.safetensors"] = true, true, true
			}
			continue
		}
		epochs++
		kept[name+".json"], kept[name+".safetensors"] = true, true
		kept[name+".optimizer.safetensors"] = epochs <= 2
	}
	for _, d := range damaged { // kept for recovery by hand: the weights may be whole
		for _, ending := range endings {
			kept[strings.TrimSuffix(storage.Base(d.URL), ".json")+ending] = true
		}
	}
	urls, err := f.list(ctx)
	if err != nil {
		return err
	}
	for _, url := range urls {
		if base := storage.Base(url); isFile(base) && !kept[base] {
			if err := storage.Remove(ctx, url); err != nil {
				return err
			}
		}
	}
	return nil
}

// RemoveAfter removes every checkpoint that is farther than r, so that training can continue from r.
func (f Folder) RemoveAfter(ctx context.Context, r Record) error {
	records, _, err := f.Records(ctx)
	if err != nil {
		return err
	}
	for _, later := range records {
		if later.compare(r) > 0 {
			if err := f.Remove(ctx, later.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Remove removes a checkpoint, if it exists.
func (f Folder) Remove(ctx context.Context, name string) error {
	for _, ending := range endings {
		if err := storage.Remove(ctx, f.url(name+ending)); err != nil {
			return err
		}
	}
	return nil
}

// MarkBest writes the file best: the name of the epoch that Valid.Better selects, or of the last one if
// none was validated.
func (f Folder) MarkBest(ctx context.Context) error {
	records, _, err := f.Records(ctx)
	if err != nil {
		return err
	}
	var best *Record
	for _, r := range records {
		switch {
		case r.Partial != nil:
		case best == nil, best.Valid == nil, r.Valid.Better(best.Valid):
			best = &r
		}
	}
	if best == nil {
		return fmt.Errorf("%w in %s", ErrNone, f)
	}
	return storage.WriteFile(ctx, f.url(BestFile), []byte(best.Name()+"\n"))
}
