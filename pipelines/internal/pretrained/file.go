package pretrained

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/kg"
	"tagnet/model/pretrained"
	"tagnet/pipelines/internal/command"
)

// Checkpoint is a checkpoint of weights that no folder holds yet.
type Checkpoint = pretrained.Checkpoint

// Source names a file of weights: Flag is the flag that does, without dashes.
type Source struct{ Flag, File string }

// File is a file of weights that was read.
type File struct {
	pretrained.Weights
	source Source
}

// Open reads the file of a source. Errors name the flag.
func (s Source) Open(ctx context.Context) (*File, error) {
	weights, err := pretrained.Open(ctx, s.File)
	if err != nil && pretrained.IsNamed(s.File) {
		return nil, fmt.Errorf("--%s %s: this program was built of other files than the repository's: build it again: %w", s.Flag, s.File, err)
	}
	if err != nil {
		return nil, s.flagged(err)
	}
	return &File{weights, s}, nil
}

// flagged makes the error of a file one of the flag that names it.
func (s Source) flagged(err error) error {
	bad := new(pretrained.FileError)
	if !errors.As(err, &bad) {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return command.MissingFile(s.Flag, bad.URL, err)
	case bad.Other:
		return command.Usage("--%s: %v", s.Flag, err)
	}
	return fmt.Errorf("--%s: %w", s.Flag, err)
}

// Over returns the checkpoint of the weights over the relations of a graph.
func (f *File) Over(loaded *kg.KG, c configuration.Configuration) (*Checkpoint, error) {
	made, err := f.Weights.Over(loaded, c)
	if unknown := new(checkpoint.UnknownRelationsError); errors.As(err, &unknown) {
		return nil, command.Usage("--%s %s: %s; train a model on this dataset, or use --model zero, which answers on any graph", f.source.Flag, f.source.name(), differences(unknown))
	}
	if err != nil {
		return nil, f.source.flagged(err)
	}
	return made, nil
}

// name returns the file's path, or the name of a model as package zoo writes it.
func (s Source) name() string {
	if pretrained.IsNamed(s.File) {
		return strings.ToLower(s.File)
	}
	return s.File
}

// Lines returns lines about the checkpoint that Over returned.
func (f *File) Lines(made *Checkpoint) []string {
	of := f.source.name()
	if pretrained.IsNamed(f.source.File) {
		return lines(fmt.Sprintf("model %s: %s", of, f.Describe(made.Record.Configuration)), made, of)
	}
	return lines(fmt.Sprintf("weights of %s: %s", f.source.File, f.Describe(made.Record.Configuration)), made, of)
}
