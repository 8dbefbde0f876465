package bundle

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"tagnet/formats/manifest"
	"tagnet/formats/metrics"
	"tagnet/formats/tables"
	"tagnet/model/ranker"
	"tagnet/stages/graph"
	"tagnet/stages/worker"
)

// Read returns the distinct queries that the parameters select: those of a split by source and relation, those of a
// table of queries in its order, so that shards of them are consecutive lines of the user's file.
func Read(ctx context.Context, p Params) ([]ranker.Query, error) {
	loaded, err := graph.Load(ctx, p.Graph)
	if err != nil {
		return nil, err
	}
	view := loaded.Of(p.Split)
	answers := view.Answers
	if p.Training {
		answers = loaded.TrainAnswers
	}
	known, err := answers(ctx)
	if err != nil {
		return nil, err
	}
	var table []tables.Query
	switch {
	case p.Queries != "":
		table, err = tables.ReadQueryTable(ctx, p.Queries)
	case p.Protocol == metrics.ValidAndTest:
		table, err = loaded.HeldOut(ctx)
	default:
		table, err = loaded.Queries(ctx, p.Split)
	}
	if err != nil {
		return nil, err
	}
	rows := make([]ranker.Row, 0, len(table))
	for i, q := range table {
		if n := int64(len(table)); p.Limit > 0 && p.Limit < n && int64(i)*p.Limit%n >= p.Limit {
			continue // every n/Limit-th row is taken
		}
		if g := view.Graph; int(max(q.Source, q.Answer)) >= g.Entities || int(q.Relation) >= g.RelationCount() {
			return nil, fmt.Errorf("row %d of %s has an id that is not in the graph", i, p.Queries)
		}
		if p.Queries != "" {
			q.Answer = ranker.None
		}
		rows = append(rows, ranker.Row{Number: int64(i), Source: q.Source, Relation: q.Relation, Answer: q.Answer})
	}
	queries := ranker.Group(rows, known.Of)
	if p.Queries != "" {
		slices.SortFunc(queries, func(a, b ranker.Query) int { return cmp.Compare(a.Rows[0], b.Rows[0]) })
	}
	return queries, nil
}

// version identifies what is read for parameters with the same graph and split.
type version struct {
	graph, queries, ask string
	protocol            metrics.Protocol
	training            bool
	limit               int64
}

// version returns the version of parameters whose queries are in the file, or are the split's if it is "".
func (p Params) version(ctx context.Context, file string) (version, error) {
	loaded, err := graph.Load(ctx, p.Graph)
	if err != nil {
		return version{}, err
	}
	v := version{graph: loaded.Manifest.Checksum, queries: file, ask: fmt.Sprint(p.Ask.Relations), protocol: p.Protocol, training: p.Training, limit: p.Limit}
	if file != "" {
		hashed, err := manifest.HashFile(ctx, file)
		if err != nil {
			return version{}, err
		}
		v.queries += " " + hashed.SHA256
	}
	return v, nil
}

// read is Read, once per process: every shard of a split is cut from the same queries.
func read(ctx context.Context, p Params) ([]ranker.Query, error) {
	v, err := p.version(ctx, p.Queries)
	if err != nil {
		return nil, err
	}
	return worker.Load(worker.Key{Kind: "queries", URL: p.Graph + " " + p.Split}, v, func() ([]ranker.Query, error) { return Read(ctx, p) })
}
