package preprocess

import (
	"context"
	"fmt"

	"tagnet/formats/lock"
	"tagnet/formats/storage"
	formattriples "tagnet/formats/triples"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
	"tagnet/stages/graph"
	"tagnet/stages/triples"
)

// types is the file of --types.
type types struct{ url, sha256 string }

// typeBufferBytes is the memory in which types are sorted. The Beam job, which has ended then, takes more.
const typeBufferBytes = 32 << 20

// openTypes hashes the file of --types and checks every line, before anything is written.
func openTypes(ctx context.Context, url string) (types, error) {
	scanned, err := triples.Scan(ctx, triples.Chunk{URL: url}, chunkBytes, maxChunks)
	if err != nil {
		return types{}, fmt.Errorf("--types: %w", err)
	}
	t := types{url, scanned.SHA256}
	return t, t.each(ctx, func(_, _ []byte) error { return nil })
}

// each calls each for the entity and the type of every line.
func (t types) each(ctx context.Context, each func(entity, name []byte) error) error {
	file, err := storage.Open(ctx, t.url)
	if err != nil {
		return err
	}
	defer file.Close()
	return formattriples.ReadTypes(t.url, file, func(_ int, entity, name []byte) error { return each(entity, name) },
		func(b formattriples.BadLine) error { return b })
}

// typed reports whether the flags give types of entities.
func (f *flags) typed() bool { return f.types != "" || f.typeRelation != "" }

// complete writes the types of both graphs, after all other tables, and adds to the summary what the Beam job does not
// know.
func (f *flags) complete(ctx context.Context, e *command.Environment, source dataset, held lock.Lock) error {
	ctx = held.Guard(ctx)
	folder := e.Workspace.Graph()
	s, err := graph.ReadSummary(ctx, folder)
	if err != nil {
		return err
	}
	s.Unread = source.unread
	if source.converted != (graph.Conversion{}) {
		s.Conversion = &source.converted
	}
	if f.typed() {
		if err := f.writeTypes(ctx, folder, source, &s); err != nil {
			return err
		}
	}
	return storage.WriteJSON(ctx, storage.Join(folder, kg.SummaryFile), s)
}

// writeTypes writes the types of both graphs.
func (f *flags) writeTypes(ctx context.Context, folder string, source dataset, s *graph.Summary) error {
	p := graph.TypesParams{
		Folder: folder, Spill: storage.Join(folder, spillFolder), Entities: s.Entities, EdgeShards: source.edgeShards(),
		Relation: f.typeRelation, BufferBytes: typeBufferBytes,
	}
	if f.types != "" {
		p.Each = source.types.each
	}
	written, err := graph.WriteTypes(ctx, p)
	if err != nil {
		return err
	}
	s.Types = &written
	found := written.Entities
	if s.InferenceGraph != nil {
		p.Inference, p.Entities = true, s.InferenceGraph.Entities
		written, err := graph.WriteTypes(ctx, p)
		if err != nil {
			return err
		}
		s.InferenceGraph.Types = &written
		found += written.Entities
	}
	if found == 0 && f.types != "" {
		return fmt.Errorf("%s: none of its entities is in the graph; its first column has to hold the names that the facts have", f.types)
	}
	return nil
}
