package answer

import (
	"tagnet/model/answer/ranking"
	"tagnet/model/graph"
)

// Scored is the results of queries, in their order.
type Scored struct {
	Queries []Ranked
	// Messages is the number of messages that the propagations sent.
	Messages int64
}

// Ranked is a distinct query with its results.
type Ranked struct {
	graph.Query
	// Row is the position of its first row in the split's table.
	Row int64
	// Results has the labelled answers, Best the candidates with the highest scores, highest first.
	Results []Result
	Best    []Candidate
}

// Unranked returns what results of the query have before scores are known.
func (q Request) Unranked() Ranked { return Ranked{Query: q.Query, Row: q.Rows[0]} }

// Result is the rank of one labelled answer.
type Result struct {
	// Row is its position in the split's table.
	Row    int64
	Answer int32
	// Score is the answer's logit.
	Score float32
	Rank  ranking.Rank
	// Distance is the number of hops from the source to the answer, or hop.Column.
	Distance int32
}

// Candidate is one of the entities with the highest scores.
type Candidate struct {
	Entity int32
	// Score is a logit.
	Score float32
	// Known reports whether the entity is a known answer.
	Known bool
	// Distance is the number of hops from the source, or hop.Column.
	Distance int32
	// Rank is the filtered rank among all entities with ties counted against the candidate, where Selection.Ranks asks
	// for it, else 0.
	Rank int64
}
