package workload

import (
	"context"
	"slices"
	"sort"

	"tagnet/formats/workspace/tables"
	"tagnet/model/answer"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
)

// Ask are the queries of every one of some sources with every one of some relations. They are numbered from 0, by
// source and then by relation, and made where they are scored: memory does not grow with their number.
type Ask struct {
	// Lists is the URL of a file of tables.Lists, whose sources are queried. Without it, or without sources in it,
	// all entities are sources.
	Lists string
	// Relations of the queries, in ascending order, 0..2R-1. Without relations there are no queries.
	Relations []int32
}

// asked makes the queries of an Ask.
type asked struct {
	sources   []int32 // nil for all
	entities  int
	relations []int32
	known     tables.Answers
}

func readAsked(ctx context.Context, view *kg.View, ask Ask) (*asked, error) {
	known, err := view.Answers(ctx)
	if err != nil {
		return nil, err
	}
	a := &asked{entities: view.Graph.Entities, relations: ask.Relations, known: known}
	if ask.Lists != "" {
		lists, err := tables.ReadLists(ctx, ask.Lists, a.entities)
		if err != nil {
			return nil, err
		}
		a.sources = lists.Sources
	}
	return a, nil
}

// sourceCount returns the number of sources, source the one at a position.
func (a *asked) sourceCount() int {
	if a.sources == nil {
		return a.entities
	}
	return len(a.sources)
}

func (a *asked) source(at int) int32 {
	if a.sources == nil {
		return int32(at)
	}
	return a.sources[at]
}

// Range returns the queries [from, to).
func (a *asked) Range(from, to int) ([]answer.Request, error) {
	queries, rows := make([]answer.Request, to-from), make([]int64, to-from)
	unanswered := []int32{graph.None}
	for i := range queries {
		n := from + i
		rows[i] = int64(n)
		source, relation := a.source(n/len(a.relations)), a.relations[n%len(a.relations)]
		queries[i] = answer.Request{Query: graph.Query{Source: source, Relation: relation, Answer: graph.None}, Rows: rows[i : i+1 : i+1], Answers: unanswered,
			Known: a.known.Of(source, relation)}
	}
	return queries, nil
}

// Len returns the number of queries.
func (a *asked) Len() int { return a.sourceCount() * len(a.relations) }

// Cut cuts the queries into ranges as a table's queries, but between sources where it can, so that one worker answers
// all queries of a source.
func (a *asked) Cut(p Params) [][2]int {
	each, total := len(a.relations), a.Len()
	most := max(1, total/shards(total, p.Work)) // queries of a range
	var ranges [][2]int
	from, rows, pair := 0, 0, 0
	end := func(to int) {
		if to > from {
			ranges = append(ranges, [2]int{from, to})
		}
		from, rows = to, 0
	}
	for i := range a.sourceCount() {
		at, size := i*each, each*p.rows()
		if p.WithKnown {
			size += a.knownRows(p, a.source(i), &pair)
		}
		if rows+size > MaxRows || at-from+each > max(most, each) {
			end(at)
		}
		rows += size
		if size <= MaxRows && each <= most {
			continue
		}
		// The source has more queries than a range.
		step := max(1, min(most, MaxRows/max(1, p.rows())))
		for from+step < at+each {
			end(from + step)
		}
		end(at + each)
	}
	end(total)
	return ranges
}

// knownRows returns how many rows the known answers of a source's queries count as. pair is the position in the table
// of known answers behind the last source, which was smaller.
func (a *asked) knownRows(p Params, source int32, pair *int) int {
	rest := a.known.Sources[*pair:]
	*pair += sort.Search(len(rest), func(i int) bool { return rest[i] >= source })
	count := 0
	for ; *pair < a.known.Len() && a.known.Sources[*pair] == source; *pair++ {
		if _, is := slices.BinarySearch(a.relations, a.known.Relations[*pair]); is {
			count += p.knownRows(len(a.known.Lists[*pair]))
		}
	}
	return count
}
