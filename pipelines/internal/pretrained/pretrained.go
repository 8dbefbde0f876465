package pretrained

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tagnet/formats/safetensors"
	"tagnet/formats/storage"
	"tagnet/formats/triples"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/kg"
	"tagnet/model/nbfnet"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
)

// RelationsUsage explains the flag --relations; message and aggregate are those of the configuration.
const RelationsUsage = "`file` of the names of the base relations of the weights, one a line, in the order of their ids"

// Source names a file of weights and has what the file does not say.
type Source struct {
	// Flag is the flag that names File, without dashes.
	Flag, File string
	// Relations is the file of --relations.
	Relations string
	// Options are those that the user gave.
	Options nbfnet.Options
}

// File is a file of weights that was read.
type File struct {
	source  Source
	weights *nbfnet.Weights
	listed  []string // relations
	// Origin identifies the file.
	Origin checkpoint.Origin
}

// Open reads the files of a source.
func (s Source) Open(ctx context.Context) (*File, error) {
	data, err := read(ctx, s.Flag, s.File)
	if err != nil {
		return nil, err
	}
	if is, err := ofULTRA(data); is && err == nil {
		return nil, command.Usage("--%s: %s holds weights of ULTRA: use --model %[2]s", s.Flag, s.File)
	}
	if s.Relations == "" {
		return nil, command.Usage("--%s %s has no names of relations: add --relations, a file of the base relations' names, one a line, in the order of their ids in NBFNet-PyG", s.Flag, s.File)
	}
	f := &File{source: s}
	if f.weights, err = nbfnet.Read(bytes.NewReader(data), int64(len(data))); err != nil {
		return nil, fmt.Errorf("--%s: %s: %w", s.Flag, s.File, err)
	}
	text, err := read(ctx, "relations", s.Relations)
	if err != nil {
		return nil, err
	}
	lines := map[string]int{}
	err = triples.ReadNames(s.Relations, bytes.NewReader(text), func(line int, name string) error {
		if first := lines[name]; first > 0 {
			return fmt.Errorf("%s:%d: the relation %q is already in line %d", s.Relations, line, name, first)
		}
		lines[name] = line
		f.listed = append(f.listed, name)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if n := len(f.listed); n != f.weights.Relations {
		return nil, command.Usage("--relations: %s has %s relations, the weights of %s have %s without their inverses",
			s.Relations, progress.Count(int64(n)), s.File, progress.Count(int64(f.weights.Relations)))
	}
	f.Origin = checkpoint.Origin{File: storage.Base(s.File), SHA256: fmt.Sprintf("%x", sha256.Sum256(data)), Relations: fmt.Sprintf("%x", sha256.Sum256(text))}
	return f, nil
}

// Configuration returns a configuration with the fields that the weights and the options decide.
func (f *File) Configuration(c configuration.Configuration) (configuration.Configuration, error) {
	c, err := f.weights.Configuration(c, f.source.Options)
	var option *nbfnet.OptionError
	if errors.As(err, &option) {
		return c, command.Usage("--%s for %s: %s", option.Option, f.source.File, option.Reason)
	}
	if err != nil {
		return c, fmt.Errorf("--%s: %s: %w", f.source.Flag, f.source.File, err)
	}
	return c, nil
}

// Describe returns a line about a model of the weights.
func (f *File) Describe(c configuration.Configuration) string {
	embeddings := "relation embeddings of each layer"
	if c.Dependent {
		embeddings = "relation embeddings that depend on the query"
	}
	return fmt.Sprintf("weights of %s: NBFNet of %d layers, %d dimensions, %s, %s, %s", f.source.File, c.Layers, c.Dim, c.Aggregate, c.Message, embeddings)
}

// Checkpoint is a checkpoint of weights that no folder holds yet.
type Checkpoint struct {
	// Record is that of the weights before any training here. Its Optimizer is not set.
	Record checkpoint.Record
	// Notice says which relations of the weights the graph lacks, or is empty.
	Notice string

	weights []safetensors.Tensor
}

// Over returns the checkpoint of the weights over the relations of a graph. The configuration is one that
// Configuration returned, or the same with the policy window.
func (f *File) Over(loaded *kg.KG, c configuration.Configuration) (*Checkpoint, error) {
	set, unused, err := f.weights.Parameters(c, f.listed, loaded.Relations)
	if err != nil {
		return nil, fmt.Errorf("--relations: %s: %w", f.source.Relations, err)
	}
	made := &Checkpoint{weights: checkpoint.Tensors(set.Tensors)}
	made.Record = checkpoint.Record{FormatVersion: checkpoint.FormatVersion, Configuration: c, Origin: &f.Origin}
	return made, made.describe(loaded, unused, f.source.Relations)
}

// describe completes the record of weights over the relations of a graph. unused are those that the graph lacks; of is the
// file or model that has them.
func (c *Checkpoint) describe(loaded *kg.KG, unused []string, of string) error {
	if len(unused) > 0 {
		c.Notice = fmt.Sprintf("the graph lacks %s of the relations of %s (%s); their weights are left out", count(unused), of, some(unused, few))
	}
	c.Record.Vocabulary = checkpoint.Vocabulary{
		Relations: loaded.Relations, Entities: len(loaded.Train.Entities), Hash: loaded.Vocabulary, Graph: loaded.Manifest.Checksum,
	}
	var err error
	c.Record.Weights, err = checkpoint.WeightsFile(c.Record, c.weights)
	return err
}

// Save writes the checkpoint, with a state of the optimizer if there is one.
func (c *Checkpoint) Save(ctx context.Context, folder checkpoint.Folder, optimizer []safetensors.Tensor) error {
	return folder.Save(ctx, c.Record, c.weights, optimizer)
}

// count returns the length of a list as people read it.
func count(list []string) string { return progress.Count(int64(len(list))) }

// some lists the first names, up to a number of them, and says how many more there are.
func some(list []string, most int) string {
	shown := make([]string, 0, most)
	for _, name := range list[:min(most, len(list))] {
		shown = append(shown, strconv.Quote(name))
	}
	text := strings.Join(shown, ", ")
	if len(list) > most {
		text += " and " + count(list[most:]) + " more"
	}
	return text
}
