package bundle

import (
	"cmp"
	"slices"
)

// Query is one query of a split by id. Relation includes reciprocals, and Number is the
// query's place in the split's table.
type Query struct {
	Number                   int64
	Source, Relation, Answer int32
}

// Unit is what is never cut apart: the queries of one question. Units stand in the order of
// source and relation.
type Unit struct {
	Source, Relation int32
	// Queries are the question's queries in the order of the split's table.
	Queries []Query
	// Known counts the question's known answers.
	Known int
	// Cost is what its propagation takes, in messages. Only ratios matter.
	Cost int64
}

// Units sorts queries into units. It reorders queries, which the units then share.
func Units(queries []Query) []Unit {
	slices.SortFunc(queries, func(a, b Query) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Number, b.Number))
	})
	var units []Unit
	for start := 0; start < len(queries); {
		end := start + 1
		for end < len(queries) && queries[end].Source == queries[start].Source && queries[end].Relation == queries[start].Relation {
			end++
		}
		units = append(units, Unit{
			Source: queries[start].Source, Relation: queries[start].Relation,
			Queries: queries[start:end:end], Cost: 1,
		})
		start = end
	}
	return units
}

// Cut bounds.
const (
	rowOverhead   = 64 // a group's fields beside its row
	unitOverhead  = 64 // a question's fields beside its lists
	bytesPerQuery = 12 // number and answer
	bytesPerKnown = 4
)

// Cut shares units out, in their order, into at least count ranges of about equal cost (where
// there are as many units), none of which needs more than memory bytes:
//
//	sources x (entities/2 + 64) + questions x 64 + queries x 12 + known answers x 4
//
// where entities/2 bounds a compressed row. A single unit that needs more stands alone. Each
// range is [from, to) of units. What is cut depends on the arguments alone.
func Cut(units []Unit, entities, count int, memory int64) [][2]int {
	var total int64
	for _, u := range units {
		total += u.Cost
	}
	var ranges [][2]int
	var cost, bytes, share int64
	from := 0
	for i, u := range units {
		size := u.bytes()
		if i == from || units[i-1].Source != u.Source {
			size += int64(entities+1)/2 + rowOverhead
		}
		if i > from && bytes+size > memory {
			ranges = append(ranges, [2]int{from, i})
			from, bytes = i, 0
			size = u.bytes() + int64(entities+1)/2 + rowOverhead
		}
		bytes += size
		cost += u.Cost
		// A range ends where the running cost fills the next of count equal shares: what one
		// range has too much, the next have less.
		if cost*int64(count) >= total*(share+1) {
			ranges = append(ranges, [2]int{from, i + 1})
			from, bytes = i+1, 0
			if total > 0 {
				share = cost * int64(count) / total
			}
		}
	}
	if from < len(units) {
		ranges = append(ranges, [2]int{from, len(units)})
	}
	return ranges
}

func (u Unit) bytes() int64 {
	return unitOverhead + bytesPerQuery*int64(len(u.Queries)) + bytesPerKnown*int64(u.Known)
}
