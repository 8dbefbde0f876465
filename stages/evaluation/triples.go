package evaluation

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/names"
	"tagnet/formats/workspace/parquet"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/answer/rules"
	"tagnet/model/graph"
)

// Triples returns the rows of observed triples, whose numbers are lines times each plus an index within a line. known
// reports whether a triple is known. estimates are those of the triples, or nil.
func (n Names) Triples(observed []answer.Observed, each int, known func(*answer.Observed) bool, estimates []answer.Estimated) []parquet.Triple {
	rows := make([]parquet.Triple, len(observed))
	for i := range observed {
		o := &observed[i]
		rows[i] = parquet.Triple{
			Query: o.Number / int64(each), Head: n.Entity(o.Head), Relation: n.Relations[o.Relation], Tail: n.Entity(o.Tail),
			TailScore: o.Tails.Score, TailRank: o.Tails.Rank, HeadScore: o.Heads.Score, HeadRank: o.Heads.Rank,
			Known: known(o), Hops: o.Hops,
		}
		if estimates != nil {
			estimate := estimates[i].Estimate
			rows[i].Probability, rows[i].LogOdds = claimed(estimate), &estimate.LogOdds
			rows[i].BelowUsual = &estimate.BelowUsual
		}
	}
	return rows
}

// LeastPlausible orders rows, the least plausible first: by how far they are below what is usual of their
// relation, so that facts of relations that no model predicts well are not all first. Without probabilities they
// are in the order of byRanks.
func LeastPlausible(a, b parquet.Triple) int {
	if a.BelowUsual != nil && b.BelowUsual != nil {
		return cmp.Or(cmp.Compare(*b.BelowUsual, *a.BelowUsual), byRanks(a, b))
	}
	return byRanks(a, b)
}

// lessLikely orders rows by their estimates, the surest last, or without any in the order of byRanks.
func lessLikely(a, b parquet.Triple) int {
	byEstimate := 0
	if a.LogOdds != nil && b.LogOdds != nil {
		byEstimate = estimate(b).Compare(estimate(a))
	}
	return cmp.Or(byEstimate, byRanks(a, b))
}

// byRanks orders rows by the worse one of both ranks, the worst first, then by the lower score. Scores come second
// since those of a softmax loss compare the answers of a query, and rows are of many.
func byRanks(a, b parquet.Triple) int {
	return cmp.Or(cmp.Compare(max(b.TailRank, b.HeadRank), max(a.TailRank, a.HeadRank)),
		cmp.Compare(min(a.TailScore, a.HeadScore), min(b.TailScore, b.HeadScore)))
}

// estimate returns the estimate of a row with log odds.
func estimate(r parquet.Triple) probability.Estimate {
	e := probability.Estimate{HasProbability: r.Probability != nil, LogOdds: *r.LogOdds}
	if e.HasProbability {
		e.Probability = *r.Probability
	}
	return e
}

// BestRelations returns the k most plausible of the rows of each pair, which are side by side, the
// most plausible first.
func BestRelations(rows []parquet.Triple, k int) (best []parquet.Triple) {
	for len(rows) > 0 {
		end := 1
		for end < len(rows) && rows[end].Query == rows[0].Query {
			end++
		}
		pair := rows[:end]
		slices.SortStableFunc(pair, func(a, b parquet.Triple) int { return lessLikely(b, a) })
		best, rows = append(best, pair[:min(k, end)]...), rows[end:]
	}
	return best
}

// TriplesHeading is the first line of triples.tsv.
const TriplesHeading = "query\thead\trelation\ttail\ttail_score\ttail_rank\thead_score\thead_rank\tprobability\tlog_odds\tbelow_usual\tknown\thops\tagainst\n"

// TripleLines returns lines of triples.tsv: one for each triple.
func TripleLines(rows []parquet.Triple) []byte {
	var text bytes.Buffer
	for _, r := range rows {
		fmt.Fprintf(&text, "%d\t%s\t%s\t%s\t%.6g\t%d\t%.6g\t%d\t%s\t%s\t%s\t%t\t%d\t%s\n",
			r.Query, names.Field(r.Head), names.Field(r.Relation), names.Field(r.Tail), r.TailScore, r.TailRank, r.HeadScore, r.HeadRank,
			optional(r.Probability), optional(r.LogOdds), optional(r.BelowUsual), r.Known, r.Hops, names.Field(r.Against))
	}
	return text.Bytes()
}

// mostAgainst is the most rules against a triple that its row has.
const mostAgainst = 3

// Against returns what speaks against a fact in a line, "" if nothing does: the best of some rules, as
// rules.Against gives them.
func (n Names) Against(f graph.Fact, against []rules.Reason) string {
	var all []string
	for _, r := range against[:min(mostAgainst, len(against))] {
		other := n.Entity(r.Path[len(r.Path)-1])
		if r.Path[0] != f.Head {
			other = "the head " + n.Entity(r.Path[0])
		}
		all = append(all, fmt.Sprintf("%s gives %s (so in %d of %d)", rules.Text(n.Relations, r.Body), other, r.Support, r.Cases))
	}
	return strings.Join(all, "; ")
}
