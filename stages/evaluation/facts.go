package evaluation

import (
	"bytes"
	"fmt"

	"tagnet/formats/names"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer/discovery"
)

// Facts returns the rows of entries of a list of new facts. before is the number of entries ahead of them.
func (n Names) Facts(list []discovery.Entry, before int64) []parquet.Fact {
	rows := make([]parquet.Fact, len(list))
	for i, e := range list {
		rows[i] = parquet.Fact{
			Position: before + int64(i) + 1, Head: n.Entity(e.Head), Relation: n.Relations[e.Relation], Tail: n.Entity(e.Tail),
			TailScore: e.Tails.Score, TailRank: e.Tails.Rank, HeadScore: e.Heads.Score, HeadRank: e.Heads.Rank, Hops: e.Hops,
			Probability: claimed(e.Estimate),
		}
	}
	return rows
}

// FactsHeading is the first line of facts.tsv.
const FactsHeading = "position\thead\trelation\ttail\tprobability\ttail_score\ttail_rank\thead_score\thead_rank\thops\n"

// FactLines returns lines of facts.tsv.
func FactLines(rows []parquet.Fact) []byte {
	var text bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&text, "%d\t%s\t%s\t%s\t%s\t%.6g\t%d\t%.6g\t%d\t%d\n", r.Position, names.Field(r.Head), names.Field(r.Relation), names.Field(r.Tail),
			optional(r.Probability), r.TailScore, r.TailRank, r.HeadScore, r.HeadRank, r.Hops)
	}
	return text.Bytes()
}

// optional writes a number, or nothing for nil.
func optional(x *float64) string {
	if x == nil {
		return ""
	}
	return fmt.Sprintf("%.6g", *x)
}
