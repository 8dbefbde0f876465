package workload

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tagnet/formats/workspace/metrics"
	"tagnet/model/answer"
	"tagnet/model/engine/parts"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
)

// QueriedGraph names the graph that queries are about.
type QueriedGraph struct {
	// Graph is the URL of the graph's folder. Required.
	Graph string
	// Without are base relations whose facts are left out; see kg.KG.Without.
	Without []string `json:",omitempty"`
	// Split names the split whose queries, graph and known answers are read; a user's queries may be
	// about kg.All. Required.
	Split string
	// Parts has the split's queries with the parts of the graph that they propagate through; its zero value
	// reads them from tables.
	Parts parts.RequiredFolder
}

// Params select queries and decide the size of shards.
type Params struct {
	QueriedGraph
	// Protocol says which queries of the graph are read, and among which entities answers are ranked, Seed the random
	// ones of GraIL. Every protocol but Test needs the split test.
	Protocol metrics.Protocol
	Seed     int64
	// Queries is the URL of a table of a user's own queries, to read instead of the split's, and TableKind says what
	// they are. Optional.
	Queries   string
	TableKind TableKind
	// Ask are the queries instead, if it has relations.
	Ask Ask
	// Limit is the maximal number of rows, spread evenly over the table; 0 takes all.
	Limit int64
	// Work is the estimated multiply-adds of a query, Best the number of candidates that are kept for it, each of which
	// is explained by so many Paths; see Queries.Cut.
	Work        float64
	Best, Paths int
	// WithKnown is set if known answers to a user's queries are listed, too, as answer.Asking says.
	WithKnown bool
}

// knownRows returns how many rows the known answers of a query count as.
func (p Params) knownRows(known int) int {
	if !p.WithKnown {
		return 0
	}
	return min(known, answer.MostKnown) * AnswerRows(p.Paths)
}

// Queries are distinct queries, numbered from 0.
type Queries interface {
	// Len returns their number.
	Len() int
	// Range returns the queries [from, to), ordered by source and relation.
	Range(from, to int) ([]answer.Request, error)
	// Cut cuts them into ranges [from, to) of about equal work and of bounded rows, given the Work, Best and
	// Paths of the parameters.
	Cut(p Params) [][2]int
}

// Read returns the queries that the parameters select from the graph, which is loaded from p.Graph.
func Read(ctx context.Context, loaded *kg.KG, p Params) (Queries, error) {
	if p.Parts.URL != "" {
		folder, err := p.Parts.Open(context.WithoutCancel(ctx)) // the queries outlive the call
		if err != nil {
			return nil, err
		}
		return ReadParts(ctx, p.Graph, folder, p.Limit)
	}
	view, err := loaded.On(ctx, p.Split)
	switch {
	case err != nil:
		return nil, err
	case len(p.Ask.Relations) > 0:
		return readAsked(ctx, view, p.Ask)
	case p.TableKind != GivenQueries:
		return readGiven(ctx, view, p)
	}
	queries, err := List(ctx, loaded, p)
	return listed{queries, p.Sample()}, err
}

// Sample returns among which entities the answers of a split's queries are ranked.
func (p Params) Sample() answer.Sample {
	return answer.Sample{Negatives: p.Protocol.Negatives(), Seed: uint64(p.Seed)}
}

// WithinLimit reports whether a row of a table of rows is among limit rows that are spread evenly over all: every
// rows/limit-th is. A limit of 0 takes all.
func WithinLimit(limit int64, row, rows int) bool {
	n := int64(rows)
	return limit == 0 || limit >= n || int64(row)*limit%n < limit
}

// List returns the distinct queries of a table: a split's by source and relation, a table of queries
// in its order, so that shards of them are consecutive lines of the user's file.
func List(ctx context.Context, loaded *kg.KG, p Params) ([]answer.Request, error) {
	view, err := loaded.On(ctx, p.Split)
	if err != nil {
		return nil, err
	}
	known, err := view.Answers(ctx)
	if err != nil {
		return nil, err
	}
	rows, _, err := Rows(ctx, loaded, p)
	if err != nil {
		return nil, err
	}
	queries := answer.Group(rows, known.Of)
	// A user's own queries are answered in the order of the file.
	if p.Queries != "" {
		slices.SortFunc(queries, func(a, b answer.Request) int { return cmp.Compare(a.Rows[0], b.Rows[0]) })
	}
	return queries, nil
}

// Rows returns the rows of a table that the parameters select, in its order and with their numbers in it, and the
// number of rows of which Limit takes these.
func Rows(ctx context.Context, loaded *kg.KG, p Params) (rows []answer.Row, of int64, err error) {
	view, err := loaded.On(ctx, p.Split)
	if err != nil {
		return nil, 0, err
	}
	var table []graph.Query
	switch {
	case p.Queries != "":
		table, err = kg.ReadQueries(ctx, p.Queries)
	case p.Protocol == metrics.ValidAndTest:
		table, err = loaded.HeldOut(ctx)
	default:
		table, err = loaded.Queries(ctx, p.Split)
	}
	if err != nil {
		return nil, 0, err
	}
	for i, q := range table {
		if !WithinLimit(p.Limit, i, len(table)) || p.Queries != "" && p.TableKind.Skips(q) {
			continue
		}
		if g := view.Graph; int(max(q.Source, q.Answer)) >= g.Entities || int(q.Relation) >= g.RelationCount() {
			return nil, 0, fmt.Errorf("row %d of %s has an id that is not in the graph", i, p.Queries)
		}
		rows = append(rows, answer.Row{Number: int64(i), Query: q})
	}
	return rows, int64(len(table)), nil
}

// listed are the queries of a table.
type listed struct {
	queries []answer.Request
	sample  answer.Sample
}

func (l listed) Len() int { return len(l.queries) }

func (l listed) Cut(p Params) [][2]int {
	return cut(len(l.queries), func(i int) int { return len(l.queries[i].Rows) + p.knownRows(len(l.queries[i].Known)) }, p.Work, p.rows())
}

// Range returns the queries of a range, by source and relation.
func (l listed) Range(from, to int) ([]answer.Request, error) {
	queries := slices.Clone(l.queries[from:to])
	slices.SortFunc(queries, func(a, b answer.Request) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Relation, b.Relation))
	})
	for i := range queries {
		queries[i].Sample = l.sample
	}
	return queries, nil
}
