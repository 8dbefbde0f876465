package model

import (
	"context"
	"fmt"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/model/graph/kg"
)

// Triple is a fact by name.
type Triple = kg.Triple

// Facts are the facts of a knowledge graph. Train are its edges; Valid and Test are only known answers, and their
// entities belong to the graph. A checkpoint fits the facts that it was trained with, and others about any entities;
// facts of relations that it has not seen are left out, unless it has seen none. ULTRA's weights and zero fit all.
type Facts struct{ Train, Valid, Test []Triple }

// Files are the text files of Facts, paths or URLs: a fact per line, head, relation and tail separated by tabs,
// plain or gzip. Valid and Test may be empty.
type Files struct{ Train, Valid, Test string }

// Load loads a model without a workspace: the facts of text files, and a checkpoint, given by the path of its
// .safetensors or .json file, which lie side by side, or of the file best. With a file of ULTRA's weights (.pth)
// instead, which answer on any graph, or the name zero, of the foundation model that tagnet comes with, nothing needs
// to have been trained. Errors are as Open's; a line that is no fact is a triples.BadLine.
func Load(ctx context.Context, files Files, path string, list ...Option) (*Model, error) {
	var facts Facts
	for _, split := range []struct {
		url  string
		into *[]Triple
	}{{files.Train, &facts.Train}, {files.Valid, &facts.Valid}, {files.Test, &facts.Test}} {
		if split.url == "" {
			continue
		}
		var err error
		if *split.into, err = ReadTriples(ctx, split.url); err != nil {
			return nil, err
		}
	}
	return LoadFacts(ctx, facts, path, list...)
}

// LoadFacts loads a model as Load, with facts in memory.
func LoadFacts(ctx context.Context, facts Facts, path string, list ...Option) (*Model, error) {
	o, err := newOptions(list)
	if err != nil {
		return nil, fmt.Errorf("loading the model %s: %w", path, err)
	}
	graph, err := kg.New(facts.Train, facts.Valid, facts.Test)
	if err != nil {
		return nil, err
	}
	o.checkpoint = path
	model, err := o.open(ctx, graph, ".")
	if err != nil {
		return nil, fmt.Errorf("loading the model %s: %w", path, classify(err))
	}
	return model, nil
}

// ReadTriples reads a text file of facts, a path or URL. The error of a line that is no fact is a triples.BadLine.
func ReadTriples(ctx context.Context, url string) ([]Triple, error) {
	r, err := storage.OpenStream(ctx, url)
	if err != nil {
		return nil, classify(err)
	}
	defer r.Close()
	var facts []Triple
	err = triples.Read(url, r, func(_ int, t triples.Triple) error {
		facts = append(facts, Triple{Head: string(t.Head), Relation: string(t.Relation), Tail: string(t.Tail)})
		return nil
	}, func(b triples.BadLine) error { return b })
	return facts, err
}
