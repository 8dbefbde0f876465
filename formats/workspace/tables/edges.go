package tables

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
)

// Edges holds edges head -relation-> tail by id, inverse edges included. Index i of the three slices
// is one edge. They are sorted by (tail, head, relation), because aggregation reads them by receiver.
type Edges struct{ Tails, Relations, Heads []int32 }

var edgesSchema = newSchema("edges", []arrow.Field{int32Field("tail"), int32Field("relation"), int32Field("head")})

// edgeOrder checks what readers of edges rely on: no negative id, sorted by (tail, head, relation).
type edgeOrder struct{ edges keyOrder }

// next checks that an edge follows the one before or equals it.
func (o *edgeOrder) next(tail, relation, head int32) error {
	if tail < 0 || relation < 0 || head < 0 {
		return fmt.Errorf("edge %d (%d -%d-> %d) has a negative id", o.edges.count, head, relation, tail)
	}
	if at := o.edges.count; o.edges.next([3]int32{tail, head, relation}) < 0 {
		return fmt.Errorf("edge %d (%d -%d-> %d) is out of order by (tail, head, relation)", at, head, relation, tail)
	}
	return nil
}

// CreateEdges begins a file of edges, of tail, relation and head, in their order, all of a graph or a shard of them.
func CreateEdges(ctx context.Context, url string) (*RowsWriter, error) {
	var order edgeOrder
	return createRows(ctx, url, edgesSchema, order.next)
}

// EachEdges calls each for the record batches of a file of edges, in order, and verifies the order of
// the edges. The slices are views that must not be changed.
func EachEdges(ctx context.Context, url string, each func(e Edges) error) error {
	var order edgeOrder
	return readTable(ctx, url, edgesSchema, nil, func(rows arrow.Record) error {
		e := Edges{int32Values(rows, 0), int32Values(rows, 1), int32Values(rows, 2)}
		for i := range e.Tails {
			if err := order.next(e.Tails[i], e.Relations[i], e.Heads[i]); err != nil {
				return err
			}
		}
		return each(e)
	})
}
