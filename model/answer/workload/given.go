package workload

import (
	"context"
	"fmt"
	"slices"

	"tagnet/formats/workspace/tables"
	"tagnet/model/answer"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
)

// TableKind is the kind of the table of Params.Queries.
type TableKind int

const (
	// GivenQueries have no answers.
	GivenQueries TableKind = iota
	// GivenTriples are scored, in both directions; see answer.Triple.
	GivenTriples
	// GivenPairs have a head and a tail, and stand for their triples with every base relation.
	GivenPairs
)

// TriplesOf returns the number of triples that a line of the table stands for.
func (g TableKind) TriplesOf(baseRelations int) int {
	switch g {
	case GivenTriples:
		return 1
	case GivenPairs:
		return baseRelations
	}
	return 0
}

// Skipped returns the row of a table for a line of a user's file that is not answered, so that the other lines keep
// their numbers: a query with an answer, or a triple without a tail.
func (g TableKind) Skipped() graph.Query {
	if g == GivenQueries {
		return graph.Query{}
	}
	return graph.Query{Answer: graph.None}
}

// Skips reports whether a row of a table is one for a line that is not answered.
func (g TableKind) Skips(row graph.Query) bool {
	return (row.Answer == graph.None) != (g == GivenQueries)
}

// givenLines makes the queries of given triples and pairs. Its lines are distinct, in the order of head, relation and
// tail, so that shards share the work of a head.
type givenLines struct {
	view  *kg.View
	known tables.Answers
	lines []answer.Triple // numbered by the table; the relation of a pair is not used
	each  int             // triples of a line
}

// readGiven reads the table of triples or pairs, sorted by fact and each once; an answer keeps the
// number of its first row.
func readGiven(ctx context.Context, view *kg.View, p Params) (*givenLines, error) {
	known, err := view.Answers(ctx)
	if err != nil {
		return nil, err
	}
	table, err := kg.ReadQueries(ctx, p.Queries)
	if err != nil {
		return nil, err
	}
	g := &givenLines{view: view, known: known, each: p.TableKind.TriplesOf(view.Graph.BaseRelations)}
	for i, q := range table {
		if p.TableKind.Skips(q) {
			continue
		}
		if int(max(q.Source, q.Answer)) >= view.Graph.Entities || int(q.Relation) >= view.Graph.BaseRelations {
			return nil, fmt.Errorf("row %d of %s has an id that is not in the graph", i, p.Queries)
		}
		g.lines = append(g.lines, answer.Triple{Number: int64(i), Fact: graph.Fact{Head: q.Source, Relation: q.Relation, Tail: q.Answer}})
	}
	slices.SortStableFunc(g.lines, func(a, b answer.Triple) int { return a.Compare(b.Fact) })
	g.lines = slices.CompactFunc(g.lines, func(a, b answer.Triple) bool { return a.Fact == b.Fact })
	return g, nil
}

// Len returns the number of distinct lines.
func (g *givenLines) Len() int { return len(g.lines) }

// Range returns the queries of lines.
func (g *givenLines) Range(from, to int) ([]answer.Request, error) {
	var triples []answer.Triple
	for _, line := range g.lines[from:to] {
		if g.each == 1 {
			triples = append(triples, line)
			continue
		}
		for relation := range g.each {
			t := line
			t.Number, t.Relation = line.Number*int64(g.each)+int64(relation), int32(relation)
			triples = append(triples, t)
		}
	}
	return answer.TripleRequests(g.view.Graph, g.known.Of, triples), nil
}

// Cut cuts the lines into ranges of equal length.
func (g *givenLines) Cut(p Params) (ranges [][2]int) {
	n, queries := len(g.lines), 2*g.each
	count := min(n, int(Count(int64(n), int64(n*queries), float64(queries)*p.Work)))
	for i := range count {
		ranges = append(ranges, [2]int{i * n / count, (i + 1) * n / count})
	}
	return ranges
}
