package tables

import (
	"context"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tagnet/formats/hop"
)

// DistanceRow is the result of one search: the packed distances of all entities from a source.
type DistanceRow struct {
	Source int32
	Packed []byte
}

// bytesPerDistanceBatch bounds the batches of a distance table by their packed size: large
// enough to compress well, small enough to hold while the next one is decoded.
const bytesPerDistanceBatch = 1 << 20

const (
	distancesName = "distances"
	entitiesKey   = "tagnet.entities"
	hopsKey       = "tagnet.hops"
)

// maxEntities keeps a row of distances within one batch.
const maxEntities = maxBatch

func distancesSchema(entities, hops int) *arrow.Schema {
	return newSchema(distancesName, []arrow.Field{
		int32Field("source"), {Name: "distances", Type: &arrow.FixedSizeBinaryType{ByteWidth: PackedLen(entities)}},
	}, entitiesKey, strconv.Itoa(entities), hopsKey, strconv.Itoa(hops))
}

// DistanceWriter writes a table of distances row by row. It takes about 2 MiB of memory, or two rows
// if they are larger.
type DistanceWriter struct {
	*tableWriter
	entities int
	sources  []int32 // of the current batch, as packed
	packed   []byte
	last     int64 // source of the last row, -1 before the first
}

// CreateDistances begins a table of distances over a number of entities, searched up to a number of
// hops (0 to hop.Most). Commit or Abort ends it.
func CreateDistances(ctx context.Context, url string, entities, hops int) (*DistanceWriter, error) {
	if hops < 0 || hops > hop.Most {
		return nil, fmt.Errorf("writing %s: distances up to %d hops do not fit into 4 bits; search at most %d hops", url, hops, hop.Most)
	}
	if entities < 1 || entities > maxEntities {
		return nil, fmt.Errorf("writing %s: a row has %d entities, want 1 to %d", url, entities, maxEntities)
	}
	w := &DistanceWriter{entities: entities, last: -1}
	schema := distancesSchema(entities, hops)
	var err error
	w.tableWriter, err = createTable(ctx, url, schema, func() []arrow.Array {
		packed := array.NewData(schema.Field(1).Type, len(w.sources), []*memory.Buffer{nil, memory.NewBufferBytes(w.packed)}, nil, 0, 0)
		columns := []arrow.Array{int32s(w.sources), array.NewFixedSizeBinaryData(packed)}
		w.sources, w.packed = w.sources[:0], w.packed[:0] // Arrow has encoded them before the next row is added
		return columns
	})
	return w, err
}

// WriteRow appends a packed row. Sources must be in increasing order.
func (w *DistanceWriter) WriteRow(row DistanceRow) error {
	if len(row.Packed) != PackedLen(w.entities) {
		return w.refuse("source %d has %d bytes of distances instead of %d", row.Source, len(row.Packed), PackedLen(w.entities))
	}
	if int64(row.Source) <= w.last || int(row.Source) >= w.entities {
		return w.refuse("source %d comes after source %d, of %d entities; rows must be in increasing order of sources", row.Source, w.last, w.entities)
	}
	w.last = int64(row.Source)
	if len(w.sources) == 0 {
		w.key = w.last
	}
	w.sources, w.packed = append(w.sources, row.Source), append(w.packed, row.Packed...)
	w.rows++
	if len(w.packed)+PackedLen(w.entities) > bytesPerDistanceBatch {
		return w.flush()
	}
	return nil
}
