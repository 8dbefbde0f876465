package bundle

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/stages/worker"
)

func init() { beam.RegisterDoFn(&writeFn{}) }

// elementBytes counts the bytes of the searches and pieces of files that are written.
var elementBytes = worker.NewCounter("parts", ElementBytes)

// ElementBytes is the name of the counter of the bytes that the searches and pieces of files take as
// elements, each once.
const ElementBytes = "part_element_bytes"

// writeFn puts the parts of a file together and writes it.
type writeFn struct {
	Params Params

	files worker.Concurrent[int]
}

func (f *writeFn) ProcessElement(ctx context.Context, file int, searches, pieces func(*[]byte) bool, _ func(int)) error {
	encodedSearches, encodedPieces := worker.Drain(searches), worker.Drain(pieces)
	return f.files.Go(ctx, f.Params.Threads, func(ctx context.Context) (int, error) {
		return file, f.Params.write(ctx, file, encodedSearches, encodedPieces)
	})
}

func (f *writeFn) FinishBundle(_ context.Context, emit func(int)) error { return f.files.Finish(emit) }

func (p Params) write(ctx context.Context, file int, searches, pieces [][]byte) error {
	ctx = p.Lock.Guard(ctx)
	all, encoded, size, err := gather(searches, pieces)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fmt.Errorf("the searches of file %d are missing: %w", file, errElement)
	}
	// The parts are written in the order of their queries.
	w, err := parts.Create(ctx, storage.Join(p.Folder, parts.File(file, all[0].files)), p.Header)
	if err != nil {
		return err
	}
	defer w.Abort()
	for _, s := range all {
		part, queries, err := p.assemble(s, encoded[s.key()])
		if err != nil {
			return err
		}
		if err := w.Write(part, queries); err != nil {
			return err
		}
	}
	if err := w.Commit(); err != nil {
		return err
	}
	elementBytes.Inc(ctx, size)
	return nil
}

// gather returns the searches of a file in the order of their queries, the pieces of each, encoded, by its key, and the
// bytes of all.
func gather(searches, pieces [][]byte) (all []*search, encoded map[int][][]byte, size int64, err error) {
	if all, err = decodeAll(searches, decodeSearch); err != nil {
		return nil, nil, 0, err
	}
	for _, element := range searches {
		size += int64(len(element))
	}
	encoded = map[int][][]byte{}
	for _, element := range pieces {
		key := pieceOf(element)
		encoded[key], size = append(encoded[key], element), size+int64(len(element))
	}
	slices.SortFunc(all, func(a, b *search) int { return cmp.Compare(a.key(), b.key()) })
	return all, encoded, size, nil
}

// assemble puts a part together of the pieces of blocks, in any order, and returns it with its queries.
func (p Params) assemble(s *search, encoded [][]byte) (*parts.Subgraph, []parts.Numbered, error) {
	pieces, err := decodeAll(encoded, decodePiece)
	if err != nil {
		return nil, nil, err
	}
	// Blocks are ascending ranges of entities, so that joined in order they give the part's entities in order.
	slices.SortFunc(pieces, func(a, b piece) int { return a.block - b.block })
	part, queries := &parts.Subgraph{Entities: s.entities}, make([]parts.Numbered, len(s.numbers))
	var known, counts []int32
	for _, piece := range pieces {
		part.AppendPiece(piece.Subgraph)
		known, counts = append(known, piece.known...), append(counts, piece.knownCounts...)
	}
	if len(part.Degrees) != len(s.entities) {
		return nil, nil, fmt.Errorf("the part of source %d has %d degrees of %d: %w", s.source, len(part.Degrees), len(s.entities), errElement)
	}
	part.SetQuery(p.query(s), s.known[s.source].Degree)
	// Queries are ordered by relation: queries with one relation share its known answers.
	var answers []int32 // known ones of the relation
	for i, relation := range s.relations {
		if i == 0 || relation != s.relations[i-1] {
			if len(counts) == 0 || int(counts[0]) > len(known) {
				return nil, nil, fmt.Errorf("the known answers of source %d are missing: %w", s.source, errElement)
			}
			answers, known, counts = known[:counts[0]:counts[0]], known[counts[0]:], counts[1:]
		}
		queries[i] = parts.Numbered{Number: s.numbers[i], Query: graph.Query{Source: s.source, Relation: relation, Answer: s.answers[i]}, Known: answers}
	}
	return part, queries, nil
}
