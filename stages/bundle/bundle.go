package bundle

import "fmt"

// Bundle is a unit of work: some questions of a split, with all that answers need beside the
// graph.
type Bundle struct {
	// Number is the bundle's place among those of its split, from 0.
	Number int
	// Groups are ordered by source.
	Groups []Group
}

// Group is the questions of a bundle that share a source, and so a search.
type Group struct {
	Source int32
	// Distances is the source's distance row, compressed; see Row.
	Distances []byte
	// Questions are ordered by relation.
	Questions []Question
}

// Question is a distinct (source, relation): one propagation answers all of its queries.
type Question struct {
	// Relation is the relation asked along, reciprocals included: 0..2R-1.
	Relation int32
	// Numbers are the places of the queries in the split's table, ascending, and Answers
	// what each of them asks for.
	Numbers []int64
	Answers []int32
	// Known are all known answers of the question, sorted.
	Known []int32
}

// Queries counts the queries of the bundle.
func (b *Bundle) Queries() int64 {
	var n int64
	for _, g := range b.Groups {
		for _, q := range g.Questions {
			n += int64(len(q.Numbers))
		}
	}
	return n
}

// Questions counts the distinct (source, relation) of the bundle: its propagations.
func (b *Bundle) Questions() int64 {
	var n int64
	for _, g := range b.Groups {
		n += int64(len(g.Questions))
	}
	return n
}

// Check returns an error if an id of the bundle is outside of a graph with that many entities
// and relations (2R).
func (b *Bundle) Check(entities, relations int) error {
	entity := func(id int32) bool { return id >= 0 && int(id) < entities }
	for _, g := range b.Groups {
		if !entity(g.Source) {
			return fmt.Errorf("bundle %d: source %d is outside 0..%d", b.Number, g.Source, entities-1)
		}
		for _, q := range g.Questions {
			if q.Relation < 0 || int(q.Relation) >= relations {
				return fmt.Errorf("bundle %d: relation %d is outside 0..%d", b.Number, q.Relation, relations-1)
			}
			if len(q.Numbers) != len(q.Answers) || len(q.Numbers) == 0 {
				return fmt.Errorf("bundle %d: %d query numbers, but %d answers", b.Number, len(q.Numbers), len(q.Answers))
			}
			for i, answer := range q.Answers {
				if answer != None && !entity(answer) {
					return fmt.Errorf("bundle %d: answer %d of query %d is outside 0..%d", b.Number, answer, q.Numbers[i], entities-1)
				}
			}
			for i, known := range q.Known {
				if !entity(known) || i > 0 && q.Known[i-1] >= known {
					return fmt.Errorf("bundle %d: known answers of (%d, %d) are not sorted ids below %d", b.Number, g.Source, q.Relation, entities)
				}
			}
		}
	}
	return nil
}

// None is the answer of a query that asks without expecting one.
const None int32 = -1
