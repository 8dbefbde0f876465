package discovery

import (
	"math"

	"tagnet/formats/externalsort"
	"tagnet/model/answer"
	"tagnet/model/graph"
)

// Held says to which split a fact belongs that the graph lacks.
type Held uint8

// The kinds of facts that are listed: new ones, and those of the two splits that are held out.
const (
	New Held = iota
	Valid
	Test
)

// Candidate is a fact as an answer of one of its two queries.
type Candidate struct {
	graph.Fact
	// Inverse is set if the fact was asked for its head: (Tail, ~Relation, ?).
	Inverse bool
	Side
	// Distance is the number of hops between the two entities, or reach.Column.
	Distance int32
	Held     Held
}

// Side is what the answers of one query say of a fact.
type Side struct {
	// Score is the logit, Share the logarithm of its part of all listed answers of the query, by softmax.
	Score, Share float32
	// Position is the rank among the listed answers, from 1; 0 if the fact is not listed.
	Position int32
}

// Fact is a fact with what its two queries say of it.
type Fact struct {
	graph.Fact
	// Tails is the side of (Head, Relation, ?), Heads that of (Tail, ~Relation, ?).
	Tails, Heads Side
	Distance     int32
	Held         Held
}

// Query returns the query that explains the fact as its answer: that for its tail, unless only that for its head lists it.
func (f *Fact) Query(baseRelations int32) graph.Query {
	tail, head := f.Queries(baseRelations)
	if f.Tails.Position > 0 {
		return tail
	}
	return head
}

// CandidateBytes is the size of a candidate on disk.
const CandidateBytes = externalsort.WideBytes

// Row returns the candidate as a record that sorts by head, relation, tail and direction.
func (c *Candidate) Row() externalsort.Wide {
	inverse := int32(0)
	if c.Inverse {
		inverse = 1
	}
	return externalsort.Wide{
		c.Head, c.Relation, c.Tail, inverse,
		int32(math.Float32bits(c.Score)), int32(math.Float32bits(c.Share)), c.Position<<2 | int32(c.Held), c.Distance,
	}
}

// candidateOf returns the candidate of a record.
func candidateOf(r externalsort.Wide) Candidate {
	return Candidate{
		Fact: graph.Fact{Head: r[0], Relation: r[1], Tail: r[2]}, Inverse: r[3] == 1,
		Side:     Side{math.Float32frombits(uint32(r[4])), math.Float32frombits(uint32(r[5])), r[6] >> 2},
		Distance: r[7], Held: Held(r[6] & 3),
	}
}

// Listing says which of a query's answers are candidates.
type Listing struct {
	// BaseRelations is the number of relations without inverses.
	BaseRelations int32
	// Held returns to which split a known answer belongs, or false if it is a fact of the graph or of another split: that is none.
	Held func(f graph.Fact) (Held, bool)
	// Unreached is set if answers that the search does not reach count. Their scores tell them from each other only by chance.
	Unreached bool
}

// Candidates appends the candidates of a query, whose known answers are listed beside the new ones.
func (l Listing) Candidates(to []Candidate, q *answer.Ranked) []Candidate {
	from := len(to)
	for _, c := range q.Best {
		f := Candidate{Fact: graph.Fact{Head: q.Source, Relation: q.Relation, Tail: c.Entity}, Side: Side{Score: c.Score}, Distance: c.Distance}
		if f.Inverse = q.Relation >= l.BaseRelations; f.Inverse {
			f.Fact = graph.Fact{Head: c.Entity, Relation: q.Relation - l.BaseRelations, Tail: q.Source}
		}
		if c.Distance < 0 && !l.Unreached {
			continue
		}
		if c.Known {
			held, ok := l.Held(f.Fact)
			if !ok {
				continue
			}
			f.Held = held
		}
		f.Position = int32(len(to) - from + 1)
		to = append(to, f)
	}
	share(to[from:])
	return to
}

// share sets the shares of the candidates of a query, the first of which has the highest score.
func share(all []Candidate) {
	if len(all) == 0 {
		return
	}
	first, sum := float64(all[0].Score), 0.0
	for _, c := range all {
		sum += math.Exp(float64(c.Score) - first)
	}
	for i := range all {
		all[i].Share = float32(float64(all[i].Score) - first - math.Log(sum))
	}
}

// Join returns a function that receives sorted records and passes on facts, and one that passes on the last fact.
func Join(each func(*Fact) error) (add func(externalsort.Wide) error, end func() error) {
	var fact Fact
	any := false
	end = func() error {
		if !any {
			return nil
		}
		any = false
		return each(&fact)
	}
	add = func(r externalsort.Wide) error {
		c := candidateOf(r)
		next := Fact{Fact: c.Fact, Distance: c.Distance, Held: c.Held}
		if !any || fact.Fact != next.Fact {
			if err := end(); err != nil {
				return err
			}
			fact, any = next, true
		}
		if c.Inverse {
			fact.Heads = c.Side
		} else {
			fact.Tails = c.Side
		}
		return nil
	}
	return add, end
}
