package distances

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tagnet/formats/tables"
)

// frontier marks the sources of a block that reach the entities of a range: for each entity as
// many words as the block has, a bit for each source.
type frontier struct {
	from  int32
	words int
	bits  []uint64 // entity by entity
}

func newFrontier(from, to int32, words int) *frontier {
	return &frontier{from, words, make([]uint64, int(to-from)*words)}
}

// of is the words of an entity, a view.
func (f *frontier) of(entity int32) []uint64 {
	at := int(entity-f.from) * f.words
	return f.bits[at : at+f.words : at+f.words]
}

// at is the place of an entity's word, or an error where there is none.
func (f *frontier) at(entity int32, word uint8) (int, error) {
	at := int(entity-f.from)*f.words + int(word)
	if entity < f.from || int(word) >= f.words || at >= len(f.bits) {
		return 0, fmt.Errorf("decoding a frontier: it has word %d of entity %d, of %d words from entity %d on", word, entity, f.words, f.from)
	}
	return at, nil
}

// frontierSchema is that of the elements that carry a frontier: a row for each word that is not
// 0, 13 bytes.
var frontierSchema = arrow.NewSchema([]arrow.Field{
	{Name: "entity", Type: arrow.PrimitiveTypes.Int32},
	{Name: "word", Type: arrow.PrimitiveTypes.Uint8},
	{Name: "sources", Type: arrow.PrimitiveTypes.Uint64},
}, nil)

const frontierRow = 13

// rowsPerElement bounds the rows of an element: of a frontier it has 852 kB, of a state 2.4 MB.
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
		if word++; word == f.words {
			entity, word = entity+1, 0
		}
	}
	return flush()
}

// add marks what an element has.
func (f *frontier) add(element []byte) error {
	record, err := decodeColumns(element, frontierSchema)
	if err != nil {
		return err
	}
	entities := record.Column(0).(*array.Int32).Int32Values()
	words := record.Column(1).(*array.Uint8).Uint8Values()
	for i, bits := range record.Column(2).(*array.Uint64).Uint64Values() {
		at, err := f.at(entities[i], words[i])
		if err != nil {
			return err
		}
		f.bits[at] |= bits
	}
	return nil
}

// encodeColumns makes an element of columns of fixed width, which it does not keep.
func encodeColumns(schema *arrow.Schema, rows int, columns ...[]byte) ([]byte, error) {
	arrays := make([]arrow.Array, len(columns))
	for i, bytes := range columns {
		buffers := []*memory.Buffer{nil, memory.NewBufferBytes(bytes)}
		arrays[i] = array.MakeFromData(array.NewData(schema.Field(i).Type, rows, buffers, nil, 0, 0))
	}
	return tables.EncodeBatch(array.NewRecord(schema, arrays, int64(rows)))
}

// decodeColumns decodes an element that has these columns.
func decodeColumns(element []byte, schema *arrow.Schema) (arrow.Record, error) {
	record, err := tables.DecodeBatch(element)
	if err != nil {
		return nil, err
	}
	if !record.Schema().Equal(schema) {
		return nil, fmt.Errorf("decoding an element: it has the columns %s", record.Schema())
	}
	return record, nil
}
