package score

import (
	"fmt"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"tagnet/model/ranking"
)

// Schema is a scored bundle's record batch, a row per question. Lists with the same first word
// have an entry per query (query_...) or per candidate (best_...).
var Schema = arrow.NewSchema([]arrow.Field{
	{Name: "source", Type: arrow.PrimitiveTypes.Int32},
	{Name: "relation", Type: arrow.PrimitiveTypes.Int32},
	{Name: "query_number", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)},
	{Name: "query_answer", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
	{Name: "query_score", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float32)},
	{Name: "query_pessimistic", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)},
	{Name: "query_optimistic", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)},
	{Name: "query_candidates", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int64)},
	{Name: "query_distance", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
	{Name: "best_entity", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
	{Name: "best_score", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Float32)},
	{Name: "best_known", Type: arrow.ListOfNonNullable(arrow.FixedWidthTypes.Boolean)},
	{Name: "best_distance", Type: arrow.ListOfNonNullable(arrow.PrimitiveTypes.Int32)},
}, nil)

// record makes the record batch; the caller releases it.
func (s *Scored) record() arrow.Record {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, Schema)
	defer builder.Release()
	source := builder.Field(0).(*array.Int32Builder)
	relation := builder.Field(1).(*array.Int32Builder)
	list := func(i int) array.Builder {
		l := builder.Field(i).(*array.ListBuilder)
		l.Append(true)
		return l.ValueBuilder()
	}
	for _, q := range s.Questions {
		source.Append(q.Source)
		relation.Append(q.Relation)
		number, answer, score := list(2).(*array.Int64Builder), list(3).(*array.Int32Builder), list(4).(*array.Float32Builder)
		pessimistic, optimistic := list(5).(*array.Int64Builder), list(6).(*array.Int64Builder)
		candidates, distance := list(7).(*array.Int64Builder), list(8).(*array.Int32Builder)
		for _, r := range q.Results {
			number.Append(r.Number)
			answer.Append(r.Answer)
			score.Append(r.Score)
			pessimistic.Append(r.Rank.Pessimistic)
			optimistic.Append(r.Rank.Optimistic)
			candidates.Append(r.Rank.Candidates)
			distance.Append(r.Distance)
		}
		entity, logit := list(9).(*array.Int32Builder), list(10).(*array.Float32Builder)
		known, hops := list(11).(*array.BooleanBuilder), list(12).(*array.Int32Builder)
		for _, c := range q.Best {
			entity.Append(c.Entity)
			logit.Append(c.Score)
			known.Append(c.Known)
			hops.Append(c.Distance)
		}
	}
	return builder.NewRecord()
}

// fromRecord copies a scored bundle out of its record batch.
func fromRecord(record arrow.Record) (*Scored, error) {
	if !record.Schema().Equal(Schema) {
		return nil, fmt.Errorf("a scored bundle has the columns %v", record.Schema())
	}
	source := record.Column(0).(*array.Int32)
	relation := record.Column(1).(*array.Int32)
	list := func(i int) *array.List { return record.Column(i).(*array.List) }
	s := &Scored{Questions: make([]Question, record.NumRows())}
	number, answer, score := list(2).ListValues().(*array.Int64), list(3).ListValues().(*array.Int32), list(4).ListValues().(*array.Float32)
	pessimistic, optimistic := list(5).ListValues().(*array.Int64), list(6).ListValues().(*array.Int64)
	candidates, distance := list(7).ListValues().(*array.Int64), list(8).ListValues().(*array.Int32)
	entity, logit := list(9).ListValues().(*array.Int32), list(10).ListValues().(*array.Float32)
	known, hops := list(11).ListValues().(*array.Boolean), list(12).ListValues().(*array.Int32)
	for i := range s.Questions {
		q := Question{Source: source.Value(i), Relation: relation.Value(i)}
		from, to := list(2).ValueOffsets(i)
		for j := int(from); j < int(to); j++ {
			rank := ranking.Rank{Pessimistic: pessimistic.Value(j), Optimistic: optimistic.Value(j), Candidates: candidates.Value(j)}
			rank.Mean = float64(rank.Pessimistic+rank.Optimistic) / 2
			q.Results = append(q.Results, Result{
				Number: number.Value(j), Answer: answer.Value(j), Score: score.Value(j), Rank: rank, Distance: distance.Value(j),
			})
		}
		from, to = list(9).ValueOffsets(i)
		for j := int(from); j < int(to); j++ {
			q.Best = append(q.Best, Candidate{Entity: entity.Value(j), Score: logit.Value(j), Known: known.Value(j), Distance: hops.Value(j)})
		}
		s.Questions[i] = q
	}
	return s, nil
}
