package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
)

// Publish hashes every file below the folder, writes the manifest, which makes the folder complete,
// and releases the lock. The rows are counts that a reader may want to check: rows["edges"] and the
// like. It publishes nothing and returns a *lock.Lost error if another run has taken over the lock,
// a *Missing error if one of Outputs, or a shard of any file, does not exist, and an error if an input was replaced.
func (s *Output) Publish(ctx context.Context, rows map[string]int64) error {
	if err := s.writeManifest(ctx, rows); err != nil {
		s.Pause()
		return err
	}
	// The folder is complete: an interrupt from here on leaves no lock file.
	ctx = context.WithoutCancel(ctx)
	err := s.lock.Release(ctx)
	if lost := new(lock.Lost); errors.As(err, &lost) && !s.inNewFolder {
		// A run that took the lock over before the manifest was written did not remove it.
		return errors.Join(err, storage.Remove(ctx, index(s.folderURL())))
	}
	return err
}

// writeManifest checks the lock, the inputs and the outputs, writes the manifest, and exchanges the folders if the new
// one is beside.
func (s *Output) writeManifest(ctx context.Context, rows map[string]int64) error {
	if err := s.lock.Check(ctx); err != nil {
		return err
	}
	if err := s.checkInputs(ctx); err != nil {
		return err
	}
	configuration, err := json.Marshal(s.Configuration)
	if err != nil {
		return fmt.Errorf("encoding the configuration of %s: %w", s.Name, err)
	}
	files, err := manifest.HashFolder(ctx, s.URL())
	if err != nil {
		return fmt.Errorf("hashing the files of %s: %w", s.URL(), err)
	}
	if err := s.missing(files); err != nil {
		return err
	}
	// Another run may have completed the folder meanwhile.
	err = manifest.Write(s.lock.Guard(ctx), s.URL(), manifest.Manifest{
		Stage: s.Name, Configuration: configuration, Seed: s.Seed, Rows: rows, Vocabulary: s.Vocabulary, Inputs: s.Inputs,
		Files: slices.DeleteFunc(files, func(f manifest.File) bool { return f.Name == lock.FileName }),
	})
	if err != nil || !s.inNewFolder {
		return err
	}
	return s.exchange(context.WithoutCancel(ctx)) // what is complete is not interrupted
}

// exchange puts the new folder in the place of the old one and removes the old one.
func (s *Output) exchange(ctx context.Context) error {
	url := s.URL()
	exchanged, err := storage.Exchange(ctx, s.folderURL(), url)
	if err == nil && !exchanged {
		err = errors.New("the file system cannot; remove the latter, and run again")
	}
	if err != nil {
		return fmt.Errorf("putting %s in the place of %s: %w", url, s.folderURL(), err)
	}
	if err := s.lock.Check(ctx); err != nil { // another run took the lock over just before, and begins to write the new folder itself
		_, undone := storage.Exchange(ctx, s.folderURL(), url)
		return errors.Join(err, undone)
	}
	guarded := s.lock.Guard(ctx)
	if err := storage.Clear(guarded, url, lockFile(url)); err != nil {
		return err
	}
	if err := storage.Remove(guarded, lockFile(url)); err != nil { // last, so that what is left of it belongs to a pipeline
		return err
	}
	storage.RemoveEmpty(ctx, url)
	return nil
}

// Explain returns the error of making the folder, or that an input was replaced meanwhile: a step that then reads
// another one fails in many ways.
func (s *Output) Explain(ctx context.Context, err error) error {
	if changed := s.checkInputs(ctx); errors.As(changed, new(*manifest.Replaced)) {
		return changed
	}
	return err
}

// checkInputs returns a *manifest.Replaced error if an input was replaced since Begin: some steps may have read the old
// input, others the new one.
func (s *Output) checkInputs(ctx context.Context) error {
	if s.OutlivesInputs {
		return nil
	}
	for _, input := range slices.Sorted(maps.Keys(s.Inputs)) {
		now, err := s.Workspace.Checksum(ctx, input)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if now != s.Inputs[input] {
			return &manifest.Replaced{Folder: s.Workspace.Path(input), Made: s.folderURL()}
		}
	}
	return nil
}
