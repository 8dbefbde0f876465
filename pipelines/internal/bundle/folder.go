package bundle

import (
	"context"
	"reflect"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/engine/parts"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/bundle"
)

// begin takes the folder. It keeps the files that an earlier run of the same work has written, and returns true
// if all is complete.
func (found *work) begin(ctx context.Context, e *command.Environment, stage *workspace.Output) (done bool, err error) {
	h := &found.params.Header
	for _, file := range found.files {
		h.Firsts = append(h.Firsts, file.Numbers[0])
	}
	complete, err := storage.Exists(ctx, storage.Join(found.params.Folder, manifest.FileName))
	if err != nil {
		return false, err
	}
	there, err := storage.ReadJSON[parts.Header](ctx, storage.Join(found.params.Folder, parts.HeaderFile()))
	if err == nil && !complete && !e.Force {
		there.MeanLogDegree, there.Degrees = h.MeanLogDegree, h.Degrees // which the graph decides
		if reflect.DeepEqual(there, *h) {
			return false, found.resume(ctx, e, stage)
		}
	}
	if done, err := stage.Begin(ctx, e.Force); done || err != nil {
		return done, err
	}
	if h.MeanLogDegree, h.Degrees, err = found.params.Degrees(ctx); err == nil {
		err = parts.WriteHeader(stage.Lock().Guard(ctx), found.params.Folder, *h)
	}
	if err != nil {
		stage.Abandon(false)
	}
	h.Firsts, h.Degrees = nil, nil
	return false, err
}

// resume takes the folder with the files in it.
func (found *work) resume(ctx context.Context, e *command.Environment, stage *workspace.Output) error {
	if err := stage.Resume(ctx, false); err != nil {
		return err
	}
	found.params.Header.Firsts = nil
	var left []bundle.File
	for _, file := range found.files {
		written, err := storage.Exists(ctx, storage.Join(found.params.Folder, parts.File(file.Number, file.Files)))
		if err != nil {
			stage.Pause()
			return err
		}
		if !written {
			left = append(left, file)
		}
	}
	e.Say("%d of %d files are written already", len(found.files)-len(left), len(found.files))
	found.left = left
	return nil
}
