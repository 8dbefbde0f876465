package answer

import (
	"cmp"
	"math"
	"slices"

	"tagnet/model/answer/probability"
	"tagnet/model/calibration"
	"tagnet/model/graph"
)

// Triple is a triple to score.
type Triple struct {
	// Number is the caller's, from 0, and no other triple's.
	Number int64
	graph.Fact
}

// TripleRequests returns the queries of triples in both directions, ordered by source and relation. known returns the ascending known answers of a
// query.
func TripleRequests(g *graph.Graph, known func(source, relation int32) []int32, triples []Triple) []Request {
	rows := make([]Row, 0, 2*len(triples))
	for _, t := range triples {
		asTail, asHead := t.Queries(int32(g.BaseRelations))
		asTail.Removal, asHead.Removal = g.RemovalOf(asTail), g.RemovalOf(asHead)
		rows = append(rows, Row{Number: 2 * t.Number, Query: asTail}, Row{Number: 2*t.Number + 1, Query: asHead})
	}
	return Group(rows, known)
}

// ScoredTriple is a triple with its scores.
type ScoredTriple struct {
	Triple
	Sides
	// Distance is the number of hops between head and tail without the triple itself, or reach.Column.
	Distance int32
	// Known reports whether the triple is a known fact.
	Known bool
}

// Sides are the results of both directions: of the tail as an answer of (head, relation, ?), and of the head as one of
// (tail, ~relation, ?).
type Sides struct{ AsTail, AsHead Side }

// Side is the result of one direction.
type Side struct {
	// Score is a logit, Rank the filtered rank with ties counted against the
	Score float32
	Rank  int64
	// Probability is the calibrated one, or nil without a calibration.
	Probability *float64
}

// Observed is a triple with what its two queries say of it.
type Observed struct {
	// Number is that of the Triple.
	Number int64
	probability.Observation
}

// Observed returns the triples of the queries of TripleRequests, by number.
func (s *Scored) Observed() []Observed {
	var tails, heads []Observed
	for _, q := range s.Queries {
		for _, r := range q.Results {
			o, side := Observed{Number: r.Row / 2}, probability.Side{Score: r.Score, Rank: r.Rank.Pessimistic}
			if r.Row%2 == 1 {
				o.Heads = side
				heads = append(heads, o)
				continue
			}
			o.Fact = graph.Fact{Head: q.Source, Relation: q.Relation, Tail: r.Answer}
			o.Tails, o.Hops = side, r.Distance
			tails = append(tails, o)
		}
	}
	byNumber := func(a, b Observed) int { return cmp.Compare(a.Number, b.Number) }
	slices.SortFunc(tails, byNumber)
	slices.SortFunc(heads, byNumber)
	for i := range tails {
		tails[i].Heads = heads[i].Heads
	}
	return tails
}

// Triples returns the triples of the queries of TripleRequests, by number. c, which may be nil, gives their probabilities.
func (s *Scored) Triples(known func(source, relation int32) []int32, c *calibration.Calibration) []ScoredTriple {
	var tails, heads []ScoredTriple
	for _, q := range s.Queries {
		for _, r := range q.Results {
			s := ScoredTriple{Triple: Triple{Number: r.Row / 2}, Distance: r.Distance}
			side := Side{Score: r.Score, Rank: r.Rank.Pessimistic}
			if c != nil {
				p := c.Probability(q.Relation, r.Score)
				side.Probability = &p
			}
			if r.Row%2 == 1 {
				s.AsHead = side
				heads = append(heads, s)
				continue
			}
			s.Fact, s.AsTail = graph.Fact{Head: q.Source, Relation: q.Relation, Tail: r.Answer}, side
			_, s.Known = slices.BinarySearch(known(q.Source, q.Relation), r.Answer)
			tails = append(tails, s)
		}
	}
	byNumber := func(a, b ScoredTriple) int { return cmp.Compare(a.Number, b.Number) }
	slices.SortFunc(tails, byNumber)
	slices.SortFunc(heads, byNumber)
	for i := range tails {
		tails[i].AsHead = heads[i].AsHead
	}
	return tails
}

// Compare orders triples, also those of different relations, the least plausible first: by the mean of the log odds in both directions,
// or of the scores without a calibration.
func (s Sides) Compare(o Sides) int {
	return cmp.Compare(s.AsTail.logOdds()+s.AsHead.logOdds(), o.AsTail.logOdds()+o.AsHead.logOdds())
}

// logOdds returns those of the calibrated probability, or without one the score.
func (s Side) logOdds() float64 {
	if s.Probability == nil {
		return float64(s.Score)
	}
	const least = 1e-16 // the difference of the largest probability below 1 from 1, about
	p := min(max(*s.Probability, least), 1-least)
	return math.Log(p) - math.Log1p(-p)
}
