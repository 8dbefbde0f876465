package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"tagnet/formats/manifest"
	"tagnet/model/checkpoint"
	"tagnet/model/kg"
)

// Model is a checkpoint whose model is used.
type Model struct {
	Folder checkpoint.Folder
	Record checkpoint.Record
	// Remark says what has to be known of the training: that it was on another graph, or that it
	// goes on. It is empty where there is nothing to say.
	Remark string
}

// OpenModel finds the checkpoint that --checkpoint names and reads it, so that one that is damaged
// or does not fit the graph fails at once. Where there is none, or not a whole one, the error
// names the command that makes it.
func (w Workspace) OpenModel(ctx context.Context, named string, loaded *kg.KG) (Model, error) {
	folder, name := checkpoint.Locate(checkpoint.Folder(w.Checkpoints()), named)
	// Without a manifest the training goes on, and its epochs can be used already.
	_, err := manifest.Read(ctx, string(folder))
	finished := !errors.Is(err, fs.ErrNotExist)
	if err != nil && finished {
		return Model{}, fmt.Errorf("%w: %s with the flags it was trained with makes it anew", err, w.Command("go run ./pipelines/train --force"))
	}
	record, _, err := folder.Model(ctx, name, loaded.Relations, loaded.Vocabulary)
	var damaged *checkpoint.DamagedError
	switch {
	case errors.Is(err, checkpoint.ErrNone):
		return Model{}, fmt.Errorf("%w: run %s first, with --resume and the flags it had if it was interrupted", err, w.Command("go run ./pipelines/train"))
	case errors.As(err, &damaged):
		return Model{}, fmt.Errorf("%w: name another with --checkpoint, or train anew: %s with the flags it was trained with", err, w.Command("go run ./pipelines/train --force"))
	case err != nil:
		return Model{}, err
	}
	m := Model{Folder: folder, Record: record}
	if !sameFolder(string(folder), w.Checkpoints()) {
		return m, nil
	}
	switch {
	case record.Vocabulary.Graph != loaded.Manifest.Checksum:
		m.Remark = fmt.Sprintf("the model was trained on another graph than the one that is there now, and may know what is asked: %s with the flags it had trains on this one", w.Command("go run ./pipelines/train --force"))
	case !finished:
		m.Remark = fmt.Sprintf("the training is not finished, %s of it is asked: %s with the flags it had goes on", record.Name(), w.Command("go run ./pipelines/train --resume"))
	}
	return m, nil
}

// sameFolder tells whether two paths or URLs lead to one folder. Paths may be spelt in many ways.
func sameFolder(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}
