package model

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/safetensors"
	"tagnet/model/answer"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/checkpoint"
)

// Errors of Open and Load, for errors.Is. The error itself names the folder or file.
var (
	// ErrNotFound is the error of a workspace without a graph, and of a checkpoint that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrNotComplete is the error of a graph that preprocess has not finished writing, or replaces meanwhile.
	ErrNotComplete = errors.New("not complete")
	// ErrDamaged is the error of a file that does not match its checksum.
	ErrDamaged = errors.New("damaged")
	// ErrMismatch is the error of a checkpoint that knows none of the graph's relations.
	ErrMismatch = checkpoint.ErrMismatch
)

// UnknownNameError is the error of an entity or relation that the graph does not have, or of a relation that the model
// was not trained with; it holds the closest names.
type UnknownNameError = kg.UnknownNameError

// PanicError is the error of queries whose computation panicked, with the stack.
type PanicError = answer.PanicError

// classify wraps an error of reading a graph or a checkpoint with the error above that describes it.
func classify(err error) error {
	var damaged *checkpoint.DamagedError
	var replaced *manifest.Replaced
	switch {
	case errors.As(err, &replaced):
		return fmt.Errorf("%w: %w", ErrNotComplete, err)
	case errors.As(err, &damaged), errors.Is(err, manifest.ErrDamaged), errors.Is(err, safetensors.ErrDamaged):
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	case errors.Is(err, checkpoint.ErrNone), errors.Is(err, checkpoint.ErrUnknown), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	return err
}

// classifyFolder wraps an error of opening a folder. Without a manifest, a folder with files is not complete.
func classifyFolder(ctx context.Context, folder string, err error) error {
	err = manifest.Confirm(ctx, folder, "", err)
	if errors.Is(err, fs.ErrNotExist) {
		if urls, e := storage.List(ctx, folder); e == nil && len(urls) > 0 {
			return fmt.Errorf("%w: %w", ErrNotComplete, err)
		}
	}
	return classify(err)
}
