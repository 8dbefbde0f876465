package tables

import (
	"cmp"
	"context"
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
)

// Edges are edges head -relation-> tail by id, reciprocals included, a position of the three
// slices each, sorted by (tail, head, relation): by where they lead, as aggregation needs
// them.
type Edges struct{ Tails, Relations, Heads []int32 }

// Len is the number of edges.
func (e Edges) Len() int { return len(e.Tails) }

var edgesSchema = newSchema("edges", []arrow.Field{int32Field("tail"), int32Field("relation"), int32Field("head")})

// check holds what readers rely on.
func (e Edges) check() error {
	if len(e.Relations) != len(e.Tails) || len(e.Heads) != len(e.Tails) {
		return fmt.Errorf("%d tails, %d relations and %d heads are no edges", len(e.Tails), len(e.Relations), len(e.Heads))
	}
	for i := range e.Tails {
		if e.Tails[i] < 0 || e.Relations[i] < 0 || e.Heads[i] < 0 {
			return fmt.Errorf("edge %d (%d -%d-> %d) has a negative id", i, e.Heads[i], e.Relations[i], e.Tails[i])
		}
		if i > 0 && e.compare(i-1, i) > 0 {
			return fmt.Errorf("edge %d (%d -%d-> %d) is out of order by (tail, head, relation)", i, e.Heads[i], e.Relations[i], e.Tails[i])
		}
	}
	return nil
}

func (e Edges) compare(i, j int) int {
	if c := cmp.Compare(e.Tails[i], e.Tails[j]); c != 0 {
		return c
	}
	if c := cmp.Compare(e.Heads[i], e.Heads[j]); c != 0 {
		return c
	}
	return cmp.Compare(e.Relations[i], e.Relations[j])
}

func (e Edges) columns(from, to int) []arrow.Array {
	return []arrow.Array{int32s(e.Tails[from:to]), int32s(e.Relations[from:to]), int32s(e.Heads[from:to])}
}

func (e *Edges) append(rows arrow.Record) {
	e.Tails = append(e.Tails, int32Values(rows, 0)...)
	e.Relations = append(e.Relations, int32Values(rows, 1)...)
	e.Heads = append(e.Heads, int32Values(rows, 2)...)
}

// WriteEdges writes edges, all of a graph or a shard of them. Edges out of order are an
// error.
func WriteEdges(ctx context.Context, url string, e Edges) error {
	if err := e.check(); err != nil {
		return fmt.Errorf("writing %s: %w", url, err)
	}
	return writeTable(ctx, url, edgesSchema, e.Len(), fixedSize, e.columns)
}

// ReadEdges reads what WriteEdges wrote, and checks its order again.
func ReadEdges(ctx context.Context, url string) (Edges, error) {
	var e Edges
	start := func(n int) { e = Edges{make([]int32, 0, n), make([]int32, 0, n), make([]int32, 0, n)} }
	err := readTable(ctx, url, edgesSchema, start, func(rows arrow.Record) error {
		e.append(rows)
		return nil
	})
	if err != nil {
		return Edges{}, err
	}
	if err := e.check(); err != nil {
		return Edges{}, fmt.Errorf("reading %s: %w", url, err)
	}
	return e, nil
}

// EncodeEdges makes an element for Beam of edges in any order.
func EncodeEdges(e Edges) ([]byte, error) {
	return EncodeBatch(record(edgesSchema, e.columns(0, e.Len())))
}

// DecodeEdges is the inverse of EncodeEdges.
func DecodeEdges(data []byte) (e Edges, err error) {
	err = decodeTable(data, edgesSchema, e.append)
	return e, err
}
