package joinsearch

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tagnet/formats/tables"
)

// frontier marks which sources of a block reach which entities of a range.
type frontier struct {
	from  int32 // first entity of the range
	width int   // words of each entity, those of a block
	bits  []uint64
}

func newFrontier(from, to int32, width int) *frontier {
	return &frontier{from, width, make([]uint64, int(to-from)*width)}
}

// words returns the words of an entity, a view: a bit for each source.
func (f *frontier) words(entity int32) []uint64 {
	i := int(entity-f.from) * f.width
	return f.bits[i : i+f.width : i+f.width]
}

// index returns the index of an entity's word in bits, or an error if it is out of range.
func (f *frontier) index(entity int32, word uint8) (int, error) {
	i := int(entity-f.from)*f.width + int(word)
	if entity < f.from || int(word) >= f.width || i >= len(f.bits) {
		return 0, fmt.Errorf("decoding a frontier: word %d of entity %d is out of range (%d words from entity %d on)", word, entity, f.width, f.from)
	}
	return i, nil
}

// empty reports whether no source reaches any entity.
func (f *frontier) empty() bool { return allZero(f.bits) }

func allZero(words []uint64) bool {
	for _, w := range words {
		if w != 0 {
			return false
		}
	}
	return true
}

// frontierSchema is the schema of elements that carry a frontier: a row of 13 bytes for each word
// that is not 0.
var frontierSchema = arrow.NewSchema([]arrow.Field{
	{Name: "entity", Type: arrow.PrimitiveTypes.Int32},
	{Name: "word", Type: arrow.PrimitiveTypes.Uint8},
	{Name: "sources", Type: arrow.PrimitiveTypes.Uint64},
}, nil)

const frontierRow = 13

// rowsPerElement limits the rows of an element: 852 kB of a frontier, 2.4 MB of a state.
const rowsPerElement = 1 << 16

// encode sends the frontier's rows in elements.
func (f *frontier) encode(send func(element []byte)) error {
	var entities []int32
	var words []uint8
	var sources []uint64
	flush := func() error {
		if len(entities) == 0 {
			return nil
		}
		element, err := encodeColumns(frontierSchema, len(entities),
			arrow.Int32Traits.CastToBytes(entities), words, arrow.Uint64Traits.CastToBytes(sources))
		if err != nil {
			return err
		}
		send(element)
		entities, words, sources = entities[:0], words[:0], sources[:0]
		return nil
	}
	entity, word := f.from, 0
	for _, bits := range f.bits {
		if bits != 0 {
			entities, words, sources = append(entities, entity), append(words, uint8(word)), append(sources, bits)
			if len(entities) == rowsPerElement {
				if err := flush(); err != nil {
					return err
				}
			}
		}
		if word++; word == f.width {
			entity, word = entity+1, 0
		}
	}
	return flush()
}

// add marks the rows of an element.
func (f *frontier) add(element []byte) error {
	record, err := decodeColumns(element, frontierSchema)
	if err != nil {
		return err
	}
	entities := record.Column(0).(*array.Int32).Int32Values()
	words := record.Column(1).(*array.Uint8).Uint8Values()
	for row, bits := range record.Column(2).(*array.Uint64).Uint64Values() {
		i, err := f.index(entities[row], words[row])
		if err != nil {
			return err
		}
		f.bits[i] |= bits
	}
	return nil
}

// encodeColumns encodes columns of fixed width, and does not keep them.
func encodeColumns(schema *arrow.Schema, rows int, columns ...[]byte) ([]byte, error) {
	arrays := make([]arrow.Array, len(columns))
	for i, bytes := range columns {
		buffers := []*memory.Buffer{nil, memory.NewBufferBytes(bytes)}
		arrays[i] = array.MakeFromData(array.NewData(schema.Field(i).Type, rows, buffers, nil, 0, 0))
	}
	return tables.EncodeBatch(array.NewRecord(schema, arrays, int64(rows)))
}

// decodeColumns decodes an element of the schema.
func decodeColumns(element []byte, schema *arrow.Schema) (arrow.Record, error) {
	record, err := tables.DecodeBatch(element)
	if err != nil {
		return nil, err
	}
	if !record.Schema().Equal(schema) {
		return nil, fmt.Errorf("decoding an element: its columns are %s, want %s", record.Schema(), schema)
	}
	return record, nil
}
