package probability

import (
	"math"

	"tagnet/formats/hop"
	"tagnet/formats/strict"
	"tagnet/model/graph"
)

// Side is the score and the rank of a fact by one of its two queries, in the graph without the fact.
type Side struct {
	// Score is the logit.
	Score float32
	// Rank is the rank among all entities but other known answers, from 1, with ties counted against the fact
	// (ranking.Rank.Pessimistic).
	Rank int64
}

// Observation is a fact, of the graph or not, with its scores and ranks by its two queries in the graph without it.
type Observation struct {
	graph.Fact
	// Tails is the side of (Head, Relation, ?), Heads the side of (Tail, ~Relation, ?).
	Tails, Heads Side
	// Hops is the least number of edges from head to tail without the fact, or hop.Column.
	Hops int32
}

// within reports whether one of both queries ranks the fact among its k best. Others are beyond what is looked at.
func (o *Observation) within(k int) bool { return min(o.Tails.Rank, o.Heads.Rank) <= int64(k) }

// ofItself reports whether the fact is one of an entity with itself. See Facts.
func (o *Observation) ofItself() bool { return o.Head == o.Tail }

// check returns an error for an observation that no model makes.
func (o *Observation) check() error {
	return strict.First(
		strict.Finite("score asking tails", float64(o.Tails.Score)), strict.Finite("score asking heads", float64(o.Heads.Score)),
		strict.Between("rank asking tails", o.Tails.Rank, 1, math.MaxInt64), strict.Between("rank asking heads", o.Heads.Rank, 1, math.MaxInt64),
		strict.Between("hops", o.Hops, hop.Column, math.MaxInt32))
}
