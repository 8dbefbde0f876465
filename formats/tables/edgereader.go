package tables

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
)

// EdgeReader reads a table of edges batch by batch, for shards that do not fit into a worker's
// memory. It is not safe for concurrent use: each goroutine opens its own.
type EdgeReader struct{ table *tableReader }

// OpenEdges opens a file that an EdgesWriter wrote. The context must live until Close.
func OpenEdges(ctx context.Context, url string) (*EdgeReader, error) {
	table, err := openTable(ctx, url, func(schema *arrow.Schema) error { return sameTable(schema, edgesSchema) })
	if err != nil {
		return nil, err
	}
	return &EdgeReader{table}, nil
}

// Close closes the file.
func (r *EdgeReader) Close() error { return r.table.close() }

// Batches returns the number of record batches.
func (r *EdgeReader) Batches() int { return len(r.table.frame.blocks) }

// Batch reads the edges of batch i, whose slices are views, and verifies their order. The caller
// verifies the order between batches.
func (r *EdgeReader) Batch(i int) (e Edges, err error) {
	rows, err := r.table.batch(i)
	if err != nil {
		return Edges{}, err
	}
	err = guard(func() (err error) {
		if e, err = new(edgeOrder).batch(rows); err == nil && e.Len() == 0 {
			err = damaged("it is empty")
		}
		return err
	})
	if err != nil {
		return Edges{}, fmt.Errorf("reading %s: batch %d: %w", r.table.url, i, err)
	}
	return e, nil
}

// Find returns the first batch that may have an edge to tail or to an entity with a larger id, or
// Batches() if there is none. It reads the batches of a binary search.
func (r *EdgeReader) Find(tail int32) (int, error) {
	from, to := 0, r.Batches()
	for from < to {
		middle := from + (to-from)/2
		e, err := r.Batch(middle)
		if err != nil {
			return 0, err
		}
		if e.Tails[e.Len()-1] < tail {
			from = middle + 1
		} else {
			to = middle
		}
	}
	return from, nil
}
