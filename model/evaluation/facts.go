package evaluation

import (
	"bytes"
	"fmt"

	"tagnet/formats/names"
	"tagnet/formats/parquet"
	"tagnet/model/discovery"
)

// Facts returns the rows of a list of new facts, of which before come before. m, which may be nil, gives their probabilities if so many
// facts are missing; see discovery.Model.Probability.
func (n Names) Facts(list []discovery.Ranked, before int, m *discovery.Model, missing float64) []parquet.Fact {
	side := func(s discovery.Side) (*float32, *int32) {
		if s.Position == 0 {
			return nil, nil
		}
		return &s.Score, &s.Position
	}
	rows := make([]parquet.Fact, len(list))
	for i, f := range list {
		row := parquet.Fact{
			Position: int64(before + i + 1), Head: n.Entity(f.Head), Relation: n.Relations[f.Relation], Tail: n.Entity(f.Tail),
			Score: f.Score, Hops: f.Distance,
		}
		row.TailScore, row.TailPosition = side(f.Tails)
		row.HeadScore, row.HeadPosition = side(f.Heads)
		if m != nil {
			p := m.Probability(f.Score, missing)
			row.Probability = &p
		}
		rows[i] = row
	}
	return rows
}

// FactsHeading is the first line of facts.tsv.
const FactsHeading = "position\thead\trelation\ttail\tprobability\tscore\ttail_score\ttail_position\thead_score\thead_position\thops\n"

// FactLines returns lines of facts.tsv.
func FactLines(rows []parquet.Fact) []byte {
	var text bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&text, "%d\t%s\t%s\t%s\t%s\t%.6g\t%s\t%s\t%s\t%s\t%d\n", r.Position, names.Field(r.Head), names.Field(r.Relation), names.Field(r.Tail),
			optional("%.6g", r.Probability), r.Score, optional("%.6g", r.TailScore), optional("%d", r.TailPosition),
			optional("%.6g", r.HeadScore), optional("%d", r.HeadPosition), r.Hops)
	}
	return text.Bytes()
}

// optional formats a value, or nothing for nil.
func optional[T any](format string, value *T) string {
	if value == nil {
		return ""
	}
	return fmt.Sprintf(format, *value)
}
