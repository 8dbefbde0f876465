package bundle

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tagnet/formats/tables"
)

// Schema is a bundle's record batch: a row per question, ordered by source and relation. Only
// the first row of a source holds its distances, the others an empty string. The bundle's number is in the metadata.
var Schema = arrow.NewSchema([]arrow.Field{
	{Name: "source", Type: arrow.PrimitiveTypes.Int32},
	{Name: "distances", Type: arrow.BinaryTypes.Binary},
	{Name: "relation", Type: arrow.PrimitiveTypes.Int32},
	{Name: "numbers", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)},
	{Name: "answers", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
	{Name: "known", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
}, nil)

// Format is the version of Schema and of the rows in it: bundles of another are made anew.
const Format = 1

const numberKey = "tagnet.bundle"

// Encode makes an element of a bundle: an Arrow IPC stream of one record batch.
func (b *Bundle) Encode() ([]byte, error) {
	record := b.record()
	defer record.Release()
	return tables.EncodeBatch(record)
}

// Decode is the inverse of Encode. The bundle's distance rows share the data's memory.
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
		return nil, errors.New("decoding a bundle: it is a batch of something else")
	}
	return fromRecord(number, record), nil
}

// record makes the bundle's record batch; the caller releases it.
func (b *Bundle) record() arrow.Record {
	metadata := arrow.NewMetadata([]string{numberKey}, []string{strconv.Itoa(b.Number)})
	builder := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(Schema.Fields(), &metadata))
	defer builder.Release()
	sources := builder.Field(0).(*array.Int32Builder)
	distances := builder.Field(1).(*array.BinaryBuilder)
	relations := builder.Field(2).(*array.Int32Builder)
	numbers := builder.Field(3).(*array.ListBuilder)
	answers := builder.Field(4).(*array.ListBuilder)
	known := builder.Field(5).(*array.ListBuilder)
	for _, g := range b.Groups {
		for i, q := range g.Questions {
			sources.Append(g.Source)
			if i == 0 {
				distances.Append(g.Distances)
			} else {
				distances.Append(nil)
			}
			relations.Append(q.Relation)
			numbers.Append(true)
			numbers.ValueBuilder().(*array.Int64Builder).AppendValues(q.Numbers, nil)
			answers.Append(true)
			answers.ValueBuilder().(*array.Int32Builder).AppendValues(q.Answers, nil)
			known.Append(true)
			known.ValueBuilder().(*array.Int32Builder).AppendValues(q.Known, nil)
		}
	}
	return builder.NewRecord()
}

// fromRecord takes a bundle out of its record batch.
func fromRecord(number int, record arrow.Record) *Bundle {
	sources := record.Column(0).(*array.Int32)
	distances := record.Column(1).(*array.Binary)
	relations := record.Column(2).(*array.Int32)
	numbers := record.Column(3).(*array.List)
	answers := record.Column(4).(*array.List)
	known := record.Column(5).(*array.List)
	b := &Bundle{Number: number}
	for i := range int(record.NumRows()) {
		source := sources.Value(i)
		if n := len(b.Groups); n == 0 || b.Groups[n-1].Source != source {
			b.Groups = append(b.Groups, Group{Source: source, Distances: distances.Value(i)})
		}
		g := &b.Groups[len(b.Groups)-1]
		g.Questions = append(g.Questions, Question{
			Relation: relations.Value(i),
			Numbers:  int64s(numbers, i), Answers: int32s(answers, i), Known: int32s(known, i),
		})
	}
	return b
}

func int64s(list *array.List, i int) []int64 {
	start, end := list.ValueOffsets(i)
	return append([]int64(nil), list.ListValues().(*array.Int64).Int64Values()[start:end]...)
}

func int32s(list *array.List, i int) []int32 {
	start, end := list.ValueOffsets(i)
	return append([]int32(nil), list.ListValues().(*array.Int32).Int32Values()[start:end]...)
}
