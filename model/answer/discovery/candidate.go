package discovery

import (
	"fmt"
	"math"

	"tagnet/formats/storage/externalsort"
	"tagnet/model/answer"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// Candidate is a fact with its rank and score by one of its two queries.
type Candidate struct {
	graph.Fact
	// Inverse is set if the fact was asked for its head: (Tail, ~Relation, ?).
	Inverse bool
	probability.Side
	// Hops is the number of hops between the two entities, or hop.Column.
	Hops int32
}

// BestAnswers returns the best answers of a query as candidates. baseRelations does not count inverses.
func BestAnswers(q *answer.Ranked, baseRelations int32) []Candidate {
	candidates := make([]Candidate, len(q.Best))
	for i, c := range q.Best {
		candidates[i] = candidateOf(q.Query, c.Entity, baseRelations, probability.Side{Score: c.Score, Rank: c.Rank}, c.Distance)
	}
	return candidates
}

// LabelledAnswers returns the labelled answers of a query as candidates.
func LabelledAnswers(q *answer.Ranked, baseRelations int32) []Candidate {
	candidates := make([]Candidate, len(q.Results))
	for i, r := range q.Results {
		candidates[i] = candidateOf(q.Query, r.Answer, baseRelations, probability.Side{Score: r.Score, Rank: r.Rank.Pessimistic}, r.Distance)
	}
	return candidates
}

func candidateOf(q graph.Query, answer, baseRelations int32, side probability.Side, hops int32) Candidate {
	return Candidate{q.Fact(answer, baseRelations), q.Relation >= baseRelations, side, hops}
}

// Queries returns the answers that are the fact, as rows of source, relation and entity: of the query that found it,
// and of the inverse query.
func (c *Candidate) Queries(baseRelations int32) (asked, other externalsort.Row) {
	asked = externalsort.Row{c.Head, c.Relation, c.Tail}
	other = externalsort.Row{c.Tail, c.Relation + baseRelations, c.Head}
	if c.Inverse {
		return other, asked
	}
	return asked, other
}

// CandidateBytes is the size of a candidate on disk, with the rows of its queries.
const CandidateBytes = externalsort.FactRowBytes + 2*externalsort.RowBytes

// Row returns the candidate as a record that sorts by head, relation, tail and direction.
func (c *Candidate) Row() externalsort.FactRow {
	inverse := int32(0)
	if c.Inverse {
		inverse = 1
	}
	return externalsort.FactRow{c.Head, c.Relation, c.Tail, inverse, int32(math.Float32bits(c.Score)), int32(c.Rank), c.Hops}
}

func read(r externalsort.FactRow) Candidate {
	return Candidate{
		Fact: graph.Fact{Head: r[0], Relation: r[1], Tail: r[2]}, Inverse: r[3] == 1,
		Side: probability.Side{Score: math.Float32frombits(uint32(r[4])), Rank: int64(r[5])}, Hops: r[6],
	}
}

// Join returns a function that receives sorted records and passes on facts with both of their sides, and one that
// passes on the last fact.
func Join(each func(*probability.Observation) error) (add func(externalsort.FactRow) error, end func() error) {
	var fact probability.Observation
	var has [2]bool // by Inverse
	end = func() error {
		switch {
		case !has[0] && !has[1]:
			return nil
		case !has[0] || !has[1]:
			return fmt.Errorf("of fact (%d, %d, %d) one side is missing: its other query was not asked", fact.Head, fact.Relation, fact.Tail)
		}
		has = [2]bool{}
		return each(&fact)
	}
	add = func(r externalsort.FactRow) error {
		c := read(r)
		if fact.Fact != c.Fact {
			if err := end(); err != nil {
				return err
			}
			fact = probability.Observation{Fact: c.Fact}
		}
		has[r[3]] = true
		if c.Inverse {
			fact.Heads = c.Side
		} else {
			fact.Tails, fact.Hops = c.Side, c.Hops // with a reach, the other query may find others
		}
		return nil
	}
	return add, end
}
