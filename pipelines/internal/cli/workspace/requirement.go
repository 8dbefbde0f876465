package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
)

// Require reads and verifies the manifest of a folder that a pipeline needs: all files exist with
// the recorded SHA-256, and the folder's inputs have not changed since. The error names the command
// that makes or overwrites the folder.
func (w Workspace) Require(ctx context.Context, folder string, command Command) (manifest.Manifest, error) {
	url := w.Path(folder)
	m, err := manifest.Read(ctx, url)
	// Without a manifest the folder is empty, or a run was interrupted or still writes it.
	if errors.Is(err, fs.ErrNotExist) {
		files, err := storage.List(ctx, url)
		state := "is not complete"
		switch {
		case errors.Is(err, storage.ErrUnavailable):
			return m, err // such as a bucket that does not exist, which a missing object does not tell
		case err == nil && len(files) == 0:
			state = "does not exist"
		}
		return m, manifest.Confirm(ctx, url, "", fmt.Errorf("%s %s: run %s first", url, state, command))
	}
	if err != nil {
		return m, remedied(err, command)
	}
	if err := manifest.Verify(ctx, url, m); err != nil {
		return m, remedied(err, command)
	}
	// The folder is whole, but stale if an input is no longer the one it was made from.
	for _, input := range slices.Sorted(maps.Keys(m.Inputs)) {
		now, err := w.Checksum(ctx, input)
		if errors.Is(err, storage.ErrUnavailable) {
			return m, err
		}
		if err != nil || now != m.Inputs[input] {
			return m, &Unusable{&Mismatch{Folder: url, Input: w.Path(input)}, command}
		}
	}
	return m, nil
}

// Checksum returns the checksum of a folder's manifest, for Output.Inputs. Require verifies it before.
func (w Workspace) Checksum(ctx context.Context, folder string) (string, error) {
	m, err := manifest.Read(ctx, w.Path(folder))
	if err != nil {
		return "", err
	}
	return m.Checksum, nil
}
