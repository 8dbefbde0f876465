package evaluation

import (
	"bytes"
	"fmt"
	"slices"

	"tagnet/formats/names"
	"tagnet/formats/parquet"
	"tagnet/model/answer"
)

// Triples returns the rows of scored triples, whose numbers are lines times each plus an index within a line.
func (n Names) Triples(scored []answer.ScoredTriple, each int) []parquet.Triple {
	rows := make([]parquet.Triple, len(scored))
	for i, s := range scored {
		rows[i] = parquet.Triple{
			Query: s.Number / int64(each), Head: n.Entity(s.Head), Relation: n.Relations[s.Relation], Tail: n.Entity(s.Tail),
			TailScore: s.AsTail.Score, TailProbability: s.AsTail.Probability, TailRank: s.AsTail.Rank,
			HeadScore: s.AsHead.Score, HeadProbability: s.AsHead.Probability, HeadRank: s.AsHead.Rank,
			Known: s.Known, Hops: s.Distance,
		}
	}
	return rows
}

// LeastPlausible orders rows, the least plausible first; see answer.Sides.
func LeastPlausible(a, b parquet.Triple) int { return sides(a).Compare(sides(b)) }

func sides(r parquet.Triple) answer.Sides {
	return answer.Sides{
		AsTail: answer.Side{Score: r.TailScore, Probability: r.TailProbability, Rank: r.TailRank},
		AsHead: answer.Side{Score: r.HeadScore, Probability: r.HeadProbability, Rank: r.HeadRank},
	}
}

// BestRelations returns the k most plausible of the rows of each pair, which are side by side, the most plausible first.
func BestRelations(rows []parquet.Triple, k int) (best []parquet.Triple) {
	for len(rows) > 0 {
		end := 1
		for end < len(rows) && rows[end].Query == rows[0].Query {
			end++
		}
		pair := rows[:end]
		slices.SortStableFunc(pair, func(a, b parquet.Triple) int { return LeastPlausible(b, a) })
		best, rows = append(best, pair[:min(k, end)]...), rows[end:]
	}
	return best
}

// TriplesHeading is the first line of triples.tsv.
const TriplesHeading = "query\thead\trelation\ttail\ttail_score\ttail_probability\ttail_rank\thead_score\thead_probability\thead_rank\tknown\thops\n"

// TripleLines returns lines of triples.tsv: one for each triple.
func TripleLines(rows []parquet.Triple) []byte {
	var text bytes.Buffer
	probability := func(p *float64) string {
		if p == nil {
			return ""
		}
		return fmt.Sprintf("%.6g", *p)
	}
	for _, r := range rows {
		fmt.Fprintf(&text, "%d\t%s\t%s\t%s\t%.6g\t%s\t%d\t%.6g\t%s\t%d\t%t\t%d\n", r.Query, names.Field(r.Head), names.Field(r.Relation), names.Field(r.Tail),
			r.TailScore, probability(r.TailProbability), r.TailRank, r.HeadScore, probability(r.HeadProbability), r.HeadRank, r.Known, r.Hops)
	}
	return text.Bytes()
}
