package answer

import (
	"cmp"
	"slices"

	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// Triple is a triple to score.
type Triple struct {
	// Number is the caller's, from 0, and no other triple's.
	Number int64
	graph.Fact
}

// TripleRequests returns the queries of triples in both directions, ordered by source and relation. known returns the
// ascending known answers of a query.
func TripleRequests(g *graph.Graph, known func(source, relation int32) []int32, triples []Triple) []Request {
	rows := make([]Row, 0, 2*len(triples))
	for _, t := range triples {
		asTail, asHead := t.Queries(int32(g.BaseRelations))
		asTail.Removal, asHead.Removal = g.RemovalOf(asTail), g.RemovalOf(asHead)
		rows = append(rows, Row{Number: 2 * t.Number, Query: asTail}, Row{Number: 2*t.Number + 1, Query: asHead})
	}
	return Group(rows, known)
}

// Observed is a triple with the observation by its two queries.
type Observed struct {
	// Number is the number of the Triple.
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
