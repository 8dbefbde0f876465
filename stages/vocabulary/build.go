package vocabulary

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/stages/triples"
)

// File names of the vocabulary's tables.
const (
	EntitiesFile          = "entities.arrow"
	RelationsFile         = "relations.arrow"
	InferenceEntitiesFile = "inference-entities.arrow"
)

// BuildParams says where the vocabulary is written.
type BuildParams struct {
	// Folder is the URL of the folder that takes the files.
	Folder string
}

// Written is a vocabulary file that is there, and an element of the stage's output.
type Written struct {
	// File is its name, URL where it lies, Version a hash of its content.
	File, URL, Version string
	// Names is how many it holds.
	Names int64
}

// Build writes the names of facts: the entities of each graph, from all of its splits, and
// the base relations, from the training facts. Input: batches of facts as triples.Read makes
// them. Output: Written, one for each file. A worker holds all names of a kind at once.
func Build(s beam.Scope, facts beam.PCollection, p BuildParams) beam.PCollection {
	s = s.Scope("vocabulary.Build")
	names := beam.ParDo(s, namesFn, facts)
	return beam.ParDo(s, &writeFn{Folder: p.Folder}, beam.GroupByKey(s, names))
}

func init() {
	register.Function2x1[[]byte, func(string, []byte), error](namesFn)
	register.DoFn4x1[context.Context, string, func(*[]byte) bool, func(Written), error](&writeFn{})
	register.Emitter2[string, []byte]()
	register.Emitter1[Written]()
	register.Iter1[[]byte]()
	beam.RegisterType(reflect.TypeOf((*Written)(nil)).Elem())
}

// namesFn emits the distinct names of a batch, by the file that they belong in.
func namesFn(element []byte, emit func(string, []byte)) error {
	var b triples.Batch
	if err := b.Decode(element); err != nil {
		return err
	}
	entities, relations := map[string]struct{}{}, map[string]struct{}{}
	for i := range b.Heads {
		entities[b.Heads[i]] = struct{}{}
		entities[b.Tails[i]] = struct{}{}
		relations[b.Relations[i]] = struct{}{}
	}
	file := EntitiesFile
	if b.Graph == triples.Inference {
		file = InferenceEntitiesFile
	}
	if err := emitNames(file, entities, emit); err != nil {
		return err
	}
	if b.Graph == triples.Training && b.Split == "train" {
		return emitNames(RelationsFile, relations, emit)
	}
	return nil
}

func emitNames(file string, names map[string]struct{}, emit func(string, []byte)) error {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, namesSchema)
	defer builder.Release()
	for name := range names {
		builder.Field(0).(*array.StringBuilder).Append(name)
	}
	record := builder.NewRecord()
	defer record.Release()
	element, err := tables.EncodeBatch(record)
	if err != nil {
		return fmt.Errorf("encoding names: %w", err)
	}
	emit(file, element)
	return nil
}

var namesSchema = arrow.NewSchema([]arrow.Field{{Name: "name", Type: arrow.BinaryTypes.String}}, nil)

// writeFn gathers the names of a file, a string header (16 bytes) and the bytes of each, and
// writes them in order.
type writeFn struct{ Folder string }

// ProcessElement writes one file.
func (f *writeFn) ProcessElement(ctx context.Context, file string, batches func(*[]byte) bool, emit func(Written)) error {
	seen := map[string]struct{}{}
	var element []byte
	for batches(&element) {
		record, err := tables.DecodeBatch(element)
		if err != nil {
			return fmt.Errorf("decoding names: %w", err)
		}
		column, ok := record.Column(0).(*array.String)
		if !ok {
			return fmt.Errorf("decoding names: column of %s", record.Column(0).DataType())
		}
		for i := range column.Len() {
			if name := column.Value(i); !has(seen, name) {
				seen[strings.Clone(name)] = struct{}{} // lets go of the batch's memory
			}
		}
	}
	names := make([]string, 0, len(seen))
	for name := range seen {
		names = append(names, name)
	}
	slices.Sort(names)
	schema := tables.Entities
	if file == RelationsFile {
		schema = tables.Relations
	}
	url := storage.Join(f.Folder, file)
	if err := tables.WriteNames(ctx, url, schema, names); err != nil {
		return err
	}
	emit(Written{File: file, URL: url, Version: version(names), Names: int64(len(names))})
	return nil
}

func has(set map[string]struct{}, name string) bool {
	_, ok := set[name]
	return ok
}
