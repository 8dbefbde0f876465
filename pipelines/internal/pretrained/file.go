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
	"tagnet/model/nbfnet"
	"tagnet/model/pretrained"
	"tagnet/pipelines/internal/command"
)

// NamesUsage explains the flag --relation_names; message and aggregate are those of the configuration.
const NamesUsage = "`file` of the names of the base relations of the weights, one a line, in the order of their ids"

// Checkpoint is a checkpoint of weights that no folder holds yet.
type Checkpoint = pretrained.Checkpoint

// Errors of Source.Open that callers say in terms of their flags.
var ErrNoNames, ErrNeedlessNames = pretrained.ErrNoNames, pretrained.ErrNeedlessNames

// Source names a file of weights and has what the file does not say.
type Source struct {
	// Flag is the flag that names File, without dashes.
	Flag, File string
	// Relations is the file of --relation_names.
	Relations string
	// Options are those that the user gave.
	Options nbfnet.Options
}

// File is a file of weights that was read.
type File struct {
	pretrained.Weights
	source Source
}

// Open reads the files of a source. Errors name the flag.
func (s Source) Open(ctx context.Context) (*File, error) {
	weights, err := pretrained.Open(ctx, s.File, pretrained.Options{Options: s.Options, Relations: s.Relations})
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
	flag := s.Flag
	if bad.URL != s.File {
		flag = "relation_names"
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return command.MissingFile(flag, bad.URL, err)
	case bad.Other:
		return command.Usage("--%s: %v", flag, err)
	}
	return fmt.Errorf("--%s: %w", flag, err)
}

// Configuration returns a configuration with the fields that the weights and the options decide.
func (f *File) Configuration(c configuration.Configuration) (configuration.Configuration, error) {
	c, err := f.Weights.Configuration(c)
	var option *nbfnet.OptionError
	if errors.As(err, &option) {
		return c, command.Usage("--%s for %s: %s", option.Option, f.source.File, option.Reason)
	}
	if err != nil {
		return c, fmt.Errorf("--%s: %s: %w", f.source.Flag, f.source.File, err)
	}
	return c, nil
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
	if f.source.Relations != "" {
		of = f.source.Relations
	}
	if pretrained.IsNamed(f.source.File) {
		return lines(fmt.Sprintf("model %s: %s", of, f.Describe(made.Record.Configuration)), made, of)
	}
	return lines(fmt.Sprintf("weights of %s: %s", f.source.File, f.Describe(made.Record.Configuration)), made, of)
}
