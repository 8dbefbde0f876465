package tables

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// DistanceReader reads the rows of chosen sources from a table of distances. It decodes only the
// batches that contain them and caches the last one. It is not safe for concurrent use: each goroutine
// opens its own.
type DistanceReader struct {
	table          *tableReader
	entities, hops int
	at             int // the cached batch, -1 before the first
	sources        []int32
	packed         *array.FixedSizeBinary
}

// OpenDistances opens a file that a DistanceWriter wrote. The context must live until Close.
func OpenDistances(ctx context.Context, url string) (*DistanceReader, error) {
	r := &DistanceReader{at: -1}
	table, err := openTable(ctx, url, func(schema *arrow.Schema) (err error) {
		r.entities, r.hops, err = distanceSize(schema)
		if err != nil {
			return err
		}
		return sameTable(schema, distancesSchema(r.entities, r.hops))
	})
	if err != nil {
		return nil, err
	}
	r.table = table
	ordered := slices.IsSortedFunc(table.frame.blocks, func(a, b block) int { return cmp.Compare(a.key, b.key) })
	if !ordered || table.frame.rows > int64(r.entities) {
		table.close()
		return nil, fmt.Errorf("reading %s: %w", url, damaged("its batches are out of order"))
	}
	return r, nil
}

// distanceSize returns the number of entities and of hops from a table's metadata.
func distanceSize(schema *arrow.Schema) (entities, hops int, err error) {
	metadata := schema.Metadata()
	if name, _ := metadata.GetValue(schemaKey); name != distancesName {
		return 0, 0, fmt.Errorf("it holds a table of %q, not of %q", name, distancesName)
	}
	text, _ := metadata.GetValue(entitiesKey)
	if entities, err = strconv.Atoi(text); err != nil || entities < 1 || entities > maxEntities {
		return 0, 0, damaged("it is about %q entities", text)
	}
	text, _ = metadata.GetValue(hopsKey)
	if hops, err = strconv.Atoi(text); err != nil || hops < 0 || hops > MaxHops {
		return 0, 0, damaged("it was searched up to %q hops", text)
	}
	return entities, hops, nil
}

// Entities returns the number of distances in a row.
func (r *DistanceReader) Entities() int { return r.entities }

// Hops returns the number of hops up to which was searched.
func (r *DistanceReader) Hops() int { return r.hops }

// Rows returns the number of sources in the table.
func (r *DistanceReader) Rows() int { return int(r.table.frame.rows) }

// Close closes the file.
func (r *DistanceReader) Close() error { return r.table.close() }

// Packed returns the packed distances of a source, or false if the table has none. The slice stays
// valid.
func (r *DistanceReader) Packed(source int32) ([]byte, bool, error) {
	after, _ := slices.BinarySearchFunc(r.table.frame.blocks, int64(source)+1, func(b block, key int64) int { return cmp.Compare(b.key, key) })
	if after == 0 {
		return nil, false, nil
	}
	if err := r.load(after - 1); err != nil {
		return nil, false, err
	}
	row, found := slices.BinarySearch(r.sources, source)
	if !found {
		return nil, false, nil
	}
	return r.packed.Value(row), true, nil
}

// Row unpacks the distances of a source, one for each of Entities(), or returns false if the table has
// none.
func (r *DistanceReader) Row(source int32, distances []uint8) (bool, error) {
	if len(distances) != r.entities {
		return false, fmt.Errorf("reading %s: a slice of %d distances for rows of %d", r.table.url, len(distances), r.entities)
	}
	packed, found, err := r.Packed(source)
	if err != nil || !found {
		return false, err
	}
	Unpack(packed, distances)
	return true, nil
}

// Each calls f for every row, by increasing source. It stops at the first error of f and returns it.
func (r *DistanceReader) Each(f func(DistanceRow) error) error {
	for i := range r.table.frame.blocks {
		if err := r.load(i); err != nil {
			return err
		}
		for row, source := range r.sources {
			if err := f(DistanceRow{source, r.packed.Value(row)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// load decodes a batch, unless it is cached, and verifies its order.
func (r *DistanceReader) load(i int) error {
	if r.at == i {
		return nil
	}
	rows, err := r.table.batch(i)
	if err != nil {
		return err
	}
	err = guard(func() error {
		r.sources, r.packed = int32Values(rows, 0), rows.Column(1).(*array.FixedSizeBinary)
		return r.checkBatch(rows, r.table.frame.blocks[i])
	})
	if err != nil {
		r.at = -1
		return fmt.Errorf("reading %s: %w", r.table.url, err)
	}
	r.at = i
	return nil
}

func (r *DistanceReader) checkBatch(rows arrow.Record, b block) error {
	if len(r.sources) == 0 || int64(r.sources[0]) != b.key || !slices.IsSorted(r.sources) {
		return damaged("the sources of a batch are out of order")
	}
	if last := len(r.sources) - 1; len(r.packed.Value(last)) != PackedLen(r.entities) {
		return damaged("%d rows have too few distances", rows.NumRows())
	}
	return nil
}
