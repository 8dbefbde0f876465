package distances

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tagnet/formats/tables"
)

// Shard is the sources of one table, in increasing order, and an element of the stage.
type Shard struct {
	// Number counts from 0 to Of-1.
	Number, Of int
	// Sources are entity ids.
	Sources []int32
}

// bytesPerShard bounds a table's packed rows, so that many workers share the work; but a shard
// has as many sources as a thread may search at once, or large graphs would be gone over again
// and again for a few each time.
const (
	bytesPerShard = 64 << 20
	leastPerShard = 512
)

// PerShard is how many sources a shard has, but for the last.
func PerShard(entities int) int {
	return max(leastPerShard, bytesPerShard/max(1, tables.PackedLen(entities)))
}

// Cut parts sources, in increasing order, into shards. How many depends on the number of
// entities and sources alone, so that the same graph makes the same files anywhere.
func Cut(sources []int32, entities int) []Shard {
	per := PerShard(entities)
	of := (len(sources) + per - 1) / per
	shards := make([]Shard, of)
	for i := range shards {
		shards[i] = Shard{Number: i, Of: of, Sources: sources[i*per : min((i+1)*per, len(sources))]}
	}
	return shards
}

// File is the name of the shard's table.
func (s Shard) File() string { return fmt.Sprintf("distances-%05d-of-%05d.arrow", s.Number, s.Of) }

// Encode turns a shard into an Arrow IPC stream.
func (s Shard) Encode() ([]byte, error) {
	m := arrow.NewMetadata([]string{"number", "of"}, []string{strconv.Itoa(s.Number), strconv.Itoa(s.Of)})
	schema := arrow.NewSchema([]arrow.Field{{Name: "source", Type: arrow.PrimitiveTypes.Int32}}, &m)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	b.Field(0).(*array.Int32Builder).AppendValues(s.Sources, nil)
	record := b.NewRecord()
	defer record.Release()
	return tables.EncodeBatch(record)
}

// Decode reads what Encode wrote.
func (s *Shard) Decode(element []byte) error {
	record, err := tables.DecodeBatch(element)
	if err != nil {
		return fmt.Errorf("decoding a shard of sources: %w", err)
	}
	m := record.Schema().Metadata()
	for key, into := range map[string]*int{"number": &s.Number, "of": &s.Of} {
		text, _ := m.GetValue(key)
		if *into, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("decoding a shard of sources: %s: %w", key, err)
		}
	}
	if record.NumCols() != 1 {
		return fmt.Errorf("decoding a shard of sources: %d columns", record.NumCols())
	}
	column, ok := record.Column(0).(*array.Int32)
	if !ok {
		return fmt.Errorf("decoding a shard of sources: column of %s", record.Column(0).DataType())
	}
	s.Sources = append([]int32(nil), column.Int32Values()...)
	return nil
}

// EncodeShards makes the elements of the stage's input.
func EncodeShards(shards []Shard) ([][]byte, error) {
	elements := make([][]byte, len(shards))
	for i, s := range shards {
		var err error
		if elements[i], err = s.Encode(); err != nil {
			return nil, err
		}
	}
	return elements, nil
}
