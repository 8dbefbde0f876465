package bundle

import (
	"context"
	"slices"

	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/tables"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
)

// start returns the first entity of the k-th block: the edges that enter a block's entities are one file.
func (p Params) start(k int) int32 {
	n := int64(len(p.Edges))
	return int32((int64(k)*int64(p.Header.Entities) + n - 1) / n)
}

func (p Params) blockOf(entity int32) int {
	return int(int64(entity) * int64(len(p.Edges)) / int64(p.Header.Entities))
}

func (p Params) readBlock(ctx context.Context, k int) (*parts.EdgeBlock, error) {
	url, from, to := storage.Join(p.Graph, p.Edges[k]), p.start(k), p.start(k+1)
	g := &graph.Graph{Entities: int(to - from), BaseRelations: p.Header.BaseRelations, Offsets: make([]int64, to-from+1)}
	err := tables.EachEdges(ctx, url, func(e tables.Edges) error {
		for i, tail := range e.Tails {
			if tail < from || tail >= to {
				return remedy.Errorf(remedy.Run("preprocess", remedy.Flag("force")),
					"an edge to entity %d is out of the file's range %d to %d", tail, from, to-1)
			}
			if head := e.Heads[i]; int(head) >= p.Header.Entities {
				return remedy.Errorf(remedy.Run("preprocess", remedy.Flag("force")),
					"an edge to entity %d comes from entity %d, the graph has %d", tail, head, p.Header.Entities)
			}
			g.Offsets[tail-from+1]++
		}
		g.Senders, g.Relations = append(g.Senders, e.Heads...), append(g.Relations, e.Relations...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range g.Entities {
		g.Offsets[i+1] += g.Offsets[i]
	}
	return parts.NewEdgeBlock(from, g), nil
}

// entitiesIn returns the entities of a part that belong to the k-th block.
func (p Params) entitiesIn(k int, entities []int32) []int32 {
	from, _ := slices.BinarySearch(entities, p.start(k))
	to, _ := slices.BinarySearch(entities, p.start(k+1))
	return entities[from:to]
}

// makePieces emits the pieces of parts that the k-th block has, by the number of their file. sources are the ones whose
// known answers are needed.
func (p Params) makePieces(ctx context.Context, k int, requests []*request, sources []int32, emit func(int, []byte)) error {
	block, err := p.readBlock(ctx, k)
	if err != nil {
		return err
	}
	answersOf := block.KnownAnswers
	if p.Answers != "" {
		slices.Sort(sources)
		known, err := tables.ReadAnswersOf(ctx, storage.Join(p.Graph, p.Answers), slices.Compact(sources))
		if err != nil {
			return err
		}
		answersOf = known.Of
	}
	var made piece
	for _, r := range requests {
		p.makePiece(block, k, r, &made)
		for _, relation := range r.relations {
			answers := answersOf(r.Source, relation)
			made.known, made.knownCounts = append(made.known, answers...), append(made.knownCounts, int32(len(answers)))
		}
		emit(r.file, made.encode())
	}
	return nil
}

// makePiece sets made to the piece of a part that the k-th block has, without known answers. Its arrays are reused.
func (p Params) makePiece(block *parts.EdgeBlock, k int, r *request, made *piece) {
	made.search, made.block, made.known, made.knownCounts = r.search, k, made.known[:0], made.knownCounts[:0]
	block.Induced(r.entities, p.entitiesIn(k, r.entities), &made.Subgraph)
}
