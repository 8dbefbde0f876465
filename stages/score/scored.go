package score

import "tagnet/model/ranking"

// Scored is what the model says about the questions of one bundle, in the bundle's order.
type Scored struct {
	// Number is the bundle's.
	Number    int
	Questions []Question
	// Messages is how many messages the propagations sent.
	Messages int64
}

// Question is a (source, relation), its queries and its best candidates.
type Question struct {
	Source, Relation int32
	// Asked is the place of its first query in the table.
	Asked   int64
	Results []Result
	Best    []Candidate
}

// Result is how one query went.
type Result struct {
	// Number is the query's place in the table of its split.
	Number int64
	Answer int32
	// Score is the answer's logit.
	Score float32
	Rank  ranking.Rank
	// Distance is the answer's from the source in hops, Unreached if it is out of reach.
	Distance int32
}

// Candidate is one of the entities that the model prefers.
type Candidate struct {
	Entity int32
	// Score is a logit; its sigmoid is the probability.
	Score    float32
	Known    bool
	Distance int32
}

// Unreached is the distance of an entity that no message reaches.
const Unreached int32 = -1
