package preprocess

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"tagnet/formats/input/facts"
	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/graph/kg"
)

type types struct {
	url, sha256 string
	columns     facts.PairColumns
	strict      bool // a bad line is an error; otherwise it is skipped
}

// typeBufferBytes is the memory in which types are sorted. The Beam job, which has ended then, takes more.
const typeBufferBytes = 32 << 20

// openTypes hashes the file of --types and, unless bad lines are rejected, checks every line before
// anything is written.
func openTypes(ctx context.Context, url string, strict bool) (types, error) {
	t := types{url: url, strict: strict}
	if err := checkReadable(url); err != nil {
		return t, fmt.Errorf("--types: %w", err)
	}
	file, err := manifest.HashFile(ctx, url)
	if err != nil {
		return t, fmt.Errorf("--types: %w", err)
	}
	t.sha256 = file.SHA256
	bad := func(b triples.BadLine) error {
		if strict {
			return triples.Refuse(b)
		}
		return errEnough
	}
	t.columns, err = facts.TypesOf.Read(ctx, url, func(int, string, string) error {
		if strict {
			return nil
		}
		return errEnough
	}, bad)
	if errors.Is(err, errEnough) {
		err = nil
	}
	return t, err
}

// each calls each for the entity and the type of every line.
func (t types) each(ctx context.Context, each func(entity, name []byte) error) error {
	return t.read(ctx, each, func(b triples.BadLine) error {
		if t.strict {
			return triples.Refuse(b)
		}
		return nil
	})
}

// read calls each for every entity and type of the file, and bad for other lines.
func (t types) read(ctx context.Context, each func(entity, name []byte) error, bad facts.Bad) error {
	_, err := facts.TypesOf.Read(ctx, t.url, func(_ int, entity, name string) error { return each([]byte(entity), []byte(name)) }, bad)
	return err
}

// rejectTypes writes the bad lines of the file to a file of rejects.
func (t types) rejectTypes(ctx context.Context, source *dataset, url string) error {
	w := triples.NewRejectsWriter(url, triples.Chunk{URL: t.url})
	defer w.Abort()
	err := t.read(ctx, func(_, _ []byte) error { return nil }, func(b triples.BadLine) error { return w.Write(ctx, b) })
	if err != nil {
		return err
	}
	rejected, any, err := w.Commit()
	if any && err == nil {
		source.rejects = append(source.rejects, rejected)
	}
	return err
}

// typed reports whether the flags give types of entities.
func (f *flags) typed() bool { return f.types != "" || f.typeRelation != "" }

// complete writes the types of both graphs, after all other tables, and adds to the summary what the
// Beam job does not know.
func (f *flags) complete(ctx context.Context, folder string, source dataset, held lock.Lock) error {
	ctx = held.Guard(ctx)
	s, err := counts.ReadDataset(ctx, folder)
	if err != nil {
		return err
	}
	s.Unread = source.unread
	if !reflect.ValueOf(source.converted).IsZero() {
		s.Conversion = &source.converted
	}
	if f.typed() {
		if err := f.writeTypes(ctx, folder, source, &s); err != nil {
			return err
		}
	}
	return storage.WriteJSON(ctx, storage.Join(folder, counts.SummaryFile), s)
}

func (f *flags) writeTypes(ctx context.Context, folder string, source dataset, s *counts.Dataset) error {
	p := kg.TypesParams{
		Folder: folder, Spill: storage.Join(folder, spillFolder), Entities: s.Entities, EdgeShards: source.edgeShards(),
		Relation: f.typeRelation, BufferBytes: typeBufferBytes,
	}
	if f.types != "" {
		p.Each = source.types.each
	}
	written, err := kg.WriteTypes(ctx, p)
	if err != nil {
		return err
	}
	s.Types = &written
	// The inference graph has entities of its own.
	found := written.Entities
	if s.InferenceGraph != nil {
		p.Inference, p.Entities = true, s.InferenceGraph.Entities
		written, err := kg.WriteTypes(ctx, p)
		if err != nil {
			return err
		}
		s.InferenceGraph.Types = &written
		found += written.Entities
	}
	// The file was read again for each graph: it must be the one that was hashed.
	if f.types != "" {
		if err := (text{url: f.types, Text: triples.Text{SHA256: source.types.sha256}}).unchanged(ctx); err != nil {
			return err
		}
	}
	if found == 0 && f.types != "" {
		return fmt.Errorf("%s: none of its entities is in the graph; %s has to hold the names that the facts have", f.types, source.types.columns.Key())
	}
	return nil
}
