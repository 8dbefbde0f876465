package tables

import (
	"context"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// DistanceRow is what one search found: the packed distances of all entities from a source.
type DistanceRow struct {
	Source int32
	Packed []byte
}

// bytesPerDistanceBatch bounds the batches of a distance table by their packed size: large
// enough to compress well, small enough that reading one row decodes little else.
const bytesPerDistanceBatch = 1 << 20

const (
	distancesName = "distances"
	entitiesKey   = "tagnet.entities"
	hopsKey       = "tagnet.hops"
)

// maxEntities keeps a row of distances within one batch.
const maxEntities = MaxBatch

func distancesSchema(entities, hops int) *arrow.Schema {
	return newSchema(distancesName, []arrow.Field{
		int32Field("source"), {Name: "distances", Type: &arrow.FixedSizeBinaryType{ByteWidth: PackedLen(entities)}},
	}, entitiesKey, strconv.Itoa(entities), hopsKey, strconv.Itoa(hops))
}

// distanceRows collects rows of distances as two columns.
type distanceRows struct {
	sources []int32
	packed  []byte
}

func (d *distanceRows) record(schema *arrow.Schema) arrow.Record {
	width := schema.Field(1).Type
	buffers := []*memory.Buffer{nil, memory.NewBufferBytes(d.packed)}
	packed := array.NewFixedSizeBinaryData(array.NewData(width, len(d.sources), buffers, nil, 0, 0))
	return record(schema, []arrow.Array{int32s(d.sources), packed})
}

// DistanceWriter writes a table of distances row by row. It holds about 2 MiB, or two rows
// where these are larger.
type DistanceWriter struct {
	table    *tableWriter
	schema   *arrow.Schema
	entities int
	waiting  distanceRows
	last     int64 // source of the last row, -1 before the first
}

// CreateDistances begins a table of distances over a number of entities, searched up to so
// many hops (1 to MaxHops). Commit or Abort ends it.
func CreateDistances(ctx context.Context, url string, entities, hops int) (*DistanceWriter, error) {
	if hops < 0 || hops > MaxHops {
		return nil, fmt.Errorf("writing %s: distances up to %d hops do not fit 4 bits; search at most %d", url, hops, MaxHops)
	}
	if entities < 1 || entities > maxEntities {
		return nil, fmt.Errorf("writing %s: rows of %d entities are not possible; 1 to %d are", url, entities, maxEntities)
	}
	schema := distancesSchema(entities, hops)
	table, err := createTable(ctx, url, schema)
	if err != nil {
		return nil, err
	}
	return &DistanceWriter{table: table, schema: schema, entities: entities, last: -1}, nil
}

// Write appends the distances of a source to all entities; 255 is unreached. Sources come in
// increasing order.
func (w *DistanceWriter) Write(source int32, distances []uint8) error {
	if len(distances) != w.entities {
		return fmt.Errorf("writing %s: source %d has %d distances instead of %d", w.table.url, source, len(distances), w.entities)
	}
	at := len(w.waiting.packed)
	w.waiting.packed = append(w.waiting.packed, make([]byte, PackedLen(w.entities))...)
	PackInto(w.waiting.packed[at:], distances)
	return w.add(source)
}

// WriteRow appends a row that is packed already.
func (w *DistanceWriter) WriteRow(row DistanceRow) error {
	if len(row.Packed) != PackedLen(w.entities) {
		return fmt.Errorf("writing %s: source %d has %d bytes of distances instead of %d", w.table.url, row.Source, len(row.Packed), PackedLen(w.entities))
	}
	w.waiting.packed = append(w.waiting.packed, row.Packed...)
	return w.add(row.Source)
}

// add enters the source of the row just packed.
func (w *DistanceWriter) add(source int32) error {
	if int64(source) <= w.last || int(source) >= w.entities {
		return fmt.Errorf("writing %s: source %d comes after source %d, of %d entities; rows go by increasing source", w.table.url, source, w.last, w.entities)
	}
	w.last = int64(source)
	w.waiting.sources = append(w.waiting.sources, source)
	if len(w.waiting.packed)+PackedLen(w.entities) > bytesPerDistanceBatch {
		return w.flush()
	}
	return nil
}

func (w *DistanceWriter) flush() error {
	if len(w.waiting.sources) == 0 {
		return nil
	}
	err := w.table.write(w.waiting.record(w.schema), int64(w.waiting.sources[0]))
	w.waiting = distanceRows{w.waiting.sources[:0], w.waiting.packed[:0]}
	return err
}

// Commit writes what is left and makes the file appear.
func (w *DistanceWriter) Commit() error {
	if err := w.flush(); err != nil {
		return err
	}
	return w.table.commit()
}

// Abort drops the file; after Commit it does nothing.
func (w *DistanceWriter) Abort() error { return w.table.abort() }

// EncodeDistances makes an element for Beam of rows over a number of entities, in any order.
func EncodeDistances(entities int, rows []DistanceRow) ([]byte, error) {
	var d distanceRows
	for _, row := range rows {
		if len(row.Packed) != PackedLen(entities) {
			return nil, fmt.Errorf("encoding distances: source %d has %d bytes instead of %d", row.Source, len(row.Packed), PackedLen(entities))
		}
		d.sources = append(d.sources, row.Source)
		d.packed = append(d.packed, row.Packed...)
	}
	return EncodeBatch(d.record(distancesSchema(entities, MaxHops)))
}

// DecodeDistances is the inverse of EncodeDistances. The rows are views of one array.
func DecodeDistances(data []byte, entities int) (rows []DistanceRow, err error) {
	err = decodeTable(data, distancesSchema(entities, MaxHops), func(batch arrow.Record) {
		packed := batch.Column(1).(*array.FixedSizeBinary)
		for i, source := range int32Values(batch, 0) {
			rows = append(rows, DistanceRow{source, packed.Value(i)})
		}
	})
	return rows, err
}
