package score

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
	"tagnet/model/ranking"
)

// A *Scored is an element of Beam's: fused steps pass the pointer, a barrier encodes it.
func init() { beam.RegisterCoder(reflect.TypeFor[*Scored](), encode, Decode) }

func encode(s *Scored) ([]byte, error) { return s.Encode() }

// Schema is that of a scored bundle's record batch: a row per query. Lists with the same first word
// have an entry per labelled answer (answer_...) or per candidate (best_...).
var Schema = arrow.NewSchema([]arrow.Field{
	{Name: "source", Type: arrow.PrimitiveTypes.Int32},
	{Name: "relation", Type: arrow.PrimitiveTypes.Int32},
	{Name: "row", Type: arrow.PrimitiveTypes.Int64},
	{Name: "answer_row", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)},
	{Name: "answer_entity", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
	{Name: "answer_score", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float32)},
	{Name: "answer_pessimistic", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)},
	{Name: "answer_optimistic", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)},
	{Name: "answer_candidates", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)},
	{Name: "answer_distance", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
	{Name: "best_entity", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
	{Name: "best_score", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float32)},
	{Name: "best_known", Type: arrow.ListOfNonNullable(arrow.FixedWidthTypes.Boolean)},
	{Name: "best_distance", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
}, nil)

const (
	numberKey   = "tagnet.bundle"
	messagesKey = "tagnet.messages"
)

// Encode returns the scored bundle as an Arrow IPC stream of one record batch.
func (s *Scored) Encode() ([]byte, error) {
	record := s.record()
	defer record.Release()
	return tables.EncodeBatch(record)
}

// Decode is the inverse of Encode.
func Decode(data []byte) (*Scored, error) {
	record, err := tables.DecodeBatch(data)
	if err != nil {
		return nil, fmt.Errorf("decoding a scored bundle: %w", err)
	}
	defer record.Release()
	metadata := record.Schema().Metadata()
	number := func(key string) int64 {
		text, _ := metadata.GetValue(key)
		n, e := strconv.ParseInt(text, 10, 64)
		err = errors.Join(err, e)
		return n
	}
	s := &Scored{Number: int(number(numberKey)), Messages: number(messagesKey)}
	if err != nil || !record.Schema().Equal(Schema) {
		return nil, errors.New("decoding a scored bundle: the record batch has another schema")
	}
	s.Queries = queries(record)
	return s, nil
}

// record returns the record batch; the caller releases it.
func (s *Scored) record() arrow.Record {
	metadata := arrow.NewMetadata([]string{numberKey, messagesKey},
		[]string{strconv.Itoa(s.Number), strconv.FormatInt(s.Messages, 10)})
	builder := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(Schema.Fields(), &metadata))
	defer builder.Release()
	source := builder.Field(0).(*array.Int32Builder)
	relation := builder.Field(1).(*array.Int32Builder)
	rows := builder.Field(2).(*array.Int64Builder)
	list := func(i int) array.Builder {
		l := builder.Field(i).(*array.ListBuilder)
		l.Append(true)
		return l.ValueBuilder()
	}
	for _, q := range s.Queries {
		source.Append(q.Source)
		relation.Append(q.Relation)
		rows.Append(q.Row)
		number, answer, score := list(3).(*array.Int64Builder), list(4).(*array.Int32Builder), list(5).(*array.Float32Builder)
		pessimistic, optimistic := list(6).(*array.Int64Builder), list(7).(*array.Int64Builder)
		candidates, distance := list(8).(*array.Int64Builder), list(9).(*array.Int32Builder)
		for _, r := range q.Results {
			number.Append(r.Row)
			answer.Append(r.Answer)
			score.Append(r.Score)
			pessimistic.Append(r.Rank.Pessimistic)
			optimistic.Append(r.Rank.Optimistic)
			candidates.Append(r.Rank.Candidates)
			distance.Append(r.Distance)
		}
		entity, logit := list(10).(*array.Int32Builder), list(11).(*array.Float32Builder)
		known, hops := list(12).(*array.BooleanBuilder), list(13).(*array.Int32Builder)
		for _, c := range q.Best {
			entity.Append(c.Entity)
			logit.Append(c.Score)
			known.Append(c.Known)
			hops.Append(c.Distance)
		}
	}
	return builder.NewRecord()
}

// queries copies the queries of a record batch.
func queries(record arrow.Record) []Query {
	source := record.Column(0).(*array.Int32)
	relation := record.Column(1).(*array.Int32)
	row := record.Column(2).(*array.Int64)
	list := func(i int) *array.List { return record.Column(i).(*array.List) }
	out := make([]Query, record.NumRows())
	number, answer, score := list(3).ListValues().(*array.Int64), list(4).ListValues().(*array.Int32), list(5).ListValues().(*array.Float32)
	pessimistic, optimistic := list(6).ListValues().(*array.Int64), list(7).ListValues().(*array.Int64)
	candidates, distance := list(8).ListValues().(*array.Int64), list(9).ListValues().(*array.Int32)
	entity, logit := list(10).ListValues().(*array.Int32), list(11).ListValues().(*array.Float32)
	known, hops := list(12).ListValues().(*array.Boolean), list(13).ListValues().(*array.Int32)
	for i := range out {
		q := Query{Source: source.Value(i), Relation: relation.Value(i), Row: row.Value(i)}
		from, to := list(3).ValueOffsets(i)
		for j := int(from); j < int(to); j++ {
			rank := ranking.Rank{Pessimistic: pessimistic.Value(j), Optimistic: optimistic.Value(j), Candidates: candidates.Value(j)}
			q.Results = append(q.Results, Result{
				Row: number.Value(j), Answer: answer.Value(j), Score: score.Value(j), Rank: rank, Distance: distance.Value(j),
			})
		}
		from, to = list(10).ValueOffsets(i)
		for j := int(from); j < int(to); j++ {
			q.Best = append(q.Best, Candidate{Entity: entity.Value(j), Score: logit.Value(j), Known: known.Value(j), Distance: hops.Value(j)})
		}
		out[i] = q
	}
	return out
}
