package bundle

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/tables"
)

// A *Bundle is an element of Beam's: fused steps pass the pointer, a barrier encodes it.
func init() { beam.RegisterCoder(reflect.TypeFor[*Bundle](), encode, Decode) }

func encode(b *Bundle) ([]byte, error) { return b.Encode() }

// Schema is that of a bundle's record batch: a row per query. The bundle's number is in the
// metadata.
var Schema = arrow.NewSchema([]arrow.Field{
	{Name: "source", Type: arrow.PrimitiveTypes.Int32},
	{Name: "relation", Type: arrow.PrimitiveTypes.Int32},
	{Name: "rows", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)},
	{Name: "answers", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
	{Name: "known", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
}, nil)

const numberKey = "tagnet.bundle"

// Encode returns the bundle as an Arrow IPC stream of one record batch.
func (b *Bundle) Encode() ([]byte, error) {
	metadata := arrow.NewMetadata([]string{numberKey}, []string{strconv.Itoa(b.Number)})
	builder := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(Schema.Fields(), &metadata))
	defer builder.Release()
	sources := builder.Field(0).(*array.Int32Builder)
	relations := builder.Field(1).(*array.Int32Builder)
	rows := builder.Field(2).(*array.ListBuilder)
	answers := builder.Field(3).(*array.ListBuilder)
	known := builder.Field(4).(*array.ListBuilder)
	for _, q := range b.Queries {
		sources.Append(q.Source)
		relations.Append(q.Relation)
		rows.Append(true)
		rows.ValueBuilder().(*array.Int64Builder).AppendValues(q.Rows, nil)
		answers.Append(true)
		answers.ValueBuilder().(*array.Int32Builder).AppendValues(q.Answers, nil)
		known.Append(true)
		known.ValueBuilder().(*array.Int32Builder).AppendValues(q.Known, nil)
	}
	record := builder.NewRecord()
	defer record.Release()
	return tables.EncodeBatch(record)
}

// Decode is the inverse of Encode.
func Decode(data []byte) (*Bundle, error) {
	record, err := tables.DecodeBatch(data)
	if err != nil {
		return nil, fmt.Errorf("decoding a bundle: %w", err)
	}
	defer record.Release()
	metadata := record.Schema().Metadata()
	text, _ := metadata.GetValue(numberKey)
	number, err := strconv.Atoi(text)
	if err != nil || !record.Schema().Equal(Schema) {
		return nil, errors.New("decoding a bundle: the record batch has another schema")
	}
	b := &Bundle{Number: number, Queries: make([]Query, record.NumRows())}
	sources := record.Column(0).(*array.Int32)
	relations := record.Column(1).(*array.Int32)
	rows := record.Column(2).(*array.List)
	answers := record.Column(3).(*array.List)
	known := record.Column(4).(*array.List)
	for i := range b.Queries {
		b.Queries[i] = Query{
			Source: sources.Value(i), Relation: relations.Value(i),
			Rows: int64s(rows, i), Answers: int32s(answers, i), Known: int32s(known, i),
		}
	}
	return b, nil
}

func int64s(list *array.List, i int) []int64 {
	from, to := list.ValueOffsets(i)
	return append([]int64(nil), list.ListValues().(*array.Int64).Int64Values()[from:to]...)
}

func int32s(list *array.List, i int) []int32 {
	from, to := list.ValueOffsets(i)
	return append([]int32(nil), list.ListValues().(*array.Int32).Int32Values()[from:to]...)
}
