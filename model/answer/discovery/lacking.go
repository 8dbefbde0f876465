package discovery

import (
	"tagnet/formats/storage/externalsort"
	"tagnet/model/graph"
)

// The tags of rows of queries and answers, in whose order equal rows meet.
const (
	// IsListed says that the query lists the answer.
	IsListed = iota
	// IsWanted says that the other query of the fact lists it.
	IsWanted
)

// Lacking returns a function that receives sorted rows with their tags and passes on each query with its
// wanted answers, ascending, that it does not list, and a function that passes on the last query. each must
// not keep the answers.
func Lacking(each func(q graph.Query, answers []int32) error) (add func(r externalsort.Row, tag int) error, end func() error) {
	var query graph.Query
	var answers []int32
	last := externalsort.Row{-1}
	// The answers collected so far belong to query.
	end = func() error {
		if len(answers) == 0 {
			return nil
		}
		err := each(query, answers)
		answers = answers[:0]
		return err
	}
	add = func(r externalsort.Row, tag int) error {
		// A listed row sorts before an equal wanted one, which it hides.
		if r == last {
			return nil
		}
		last = r
		if tag == IsListed {
			return nil
		}
		if len(answers) > 0 && (query.Source != r[0] || query.Relation != r[1]) {
			if err := end(); err != nil {
				return err
			}
		}
		query = graph.Query{Source: r[0], Relation: r[1], Answer: graph.None}
		answers = append(answers, r[2])
		return nil
	}
	return add, end
}
