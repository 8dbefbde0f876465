package parts

import (
	"context"

	"tagnet/formats/workspace/tables"
	"tagnet/model/graph"
	"tagnet/model/parallel"
)

// Numbered is one query of a part, by the ids of the whole graph, with its number in the split.
type Numbered struct {
	Number int64
	graph.Query
	// Known are the answers, ascending, that filter its rank and are no negatives of it.
	Known []int32
}

// Writer writes the parts of a file, in the order of their queries.
type Writer struct {
	*tables.PartsWriter
	row tables.Part
}

// Create begins a file of parts, of which h has the sizes of the graph. Commit or Abort ends it.
func Create(ctx context.Context, url string, h Header) (*Writer, error) {
	parts, err := tables.CreateParts(ctx, url, h.sizes())
	return &Writer{PartsWriter: parts}, err
}

// Write appends the part that Finder finds for a source, with its queries in the order of their numbers; queries that
// share a relation follow each other. The part of a training query is without its fact.
func (w *Writer) Write(part *Subgraph, queries []Numbered) error {
	r := &w.row
	r.Source = part.Entities[part.Source]
	r.Entities, r.Degrees, r.Senders, r.Relations = part.Entities, part.Degrees, part.Senders, part.Relations
	r.Counts = parallel.Resize(r.Counts, len(part.Entities))
	for i := range r.Counts {
		r.Counts[i] = int32(part.Offsets[i+1] - part.Offsets[i])
	}
	r.Numbers, r.Asked, r.Answers, r.Known, r.KnownCounts = r.Numbers[:0], r.Asked[:0], r.Answers[:0], r.Known[:0], r.KnownCounts[:0]
	for i, q := range queries {
		r.Numbers, r.Asked, r.Answers = append(r.Numbers, q.Number), append(r.Asked, q.Relation), append(r.Answers, q.Answer)
		if i == 0 || q.Relation != queries[i-1].Relation {
			r.Known, r.KnownCounts = append(r.Known, q.Known...), append(r.KnownCounts, int32(len(q.Known)))
		}
	}
	return w.PartsWriter.Write(*r)
}
