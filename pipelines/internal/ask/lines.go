package ask

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"

	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
	"tagnet/model/answer/workload"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/scoring"
)

// lines holds what a user's file asks.
type lines struct {
	queries    []graph.Query
	duplicates int64  // that repeat another one
	sha256     string // of the file
	given      workload.Given
	inGraph    int64 // triples that are edges of the graph
}

// readLines reads the file of --queries, and looks up the ids of its names in the graph that is queried. It tells of all unknown ones at once.
func readLines(ctx context.Context, e *command.Environment, url string, loaded *kg.KG, view *kg.View) (lines, error) {
	return scoring.ReadOnce(ctx, "queries", url, func(name string, r io.Reader) (q lines, err error) {
		hash := sha256.New()
		r = io.TeeReader(r, hash)
		seen := map[graph.Query]bool{}
		names := scoring.NewNames(loaded.Lookup(view), name)
		err = triples.ReadQueries(name, r, func(line int, text triples.QueryLine) error {
			// Triples, pairs and queries are not mixed in one file.
			one, given, err := find(ctx, names, loaded.Relations, line, text)
			if err != nil {
				return err
			}
			if line > 1 && given != q.given {
				return remedy.Errorf("put them into files of their own", "%s:%d: one of the %s among %s", name, line, givenNames[given], givenNames[q.given])
			}
			q.given = given
			if names.Unknown() {
				return nil
			}
			// Duplicates are answered again, but told.
			switch {
			case seen[one]:
				q.duplicates++
			case given == workload.GivenTriples && view.Graph.Has(one.Source, one.Relation, one.Answer):
				q.inGraph++
			}
			seen[one] = true
			q.queries = append(q.queries, one)
			return nil
		})
		if err == nil {
			err = names.Failed(e)
		}
		if err == nil {
			_, err = io.Copy(io.Discard, r) // what follows a compressed text
		}
		q.sha256 = fmt.Sprintf("%x", hash.Sum(nil))
		return q, err
	})
}

// anyRelation stands for all relations of a pair, where no relation has this name.
const anyRelation = "?"

// find looks up the names of a line, and says what it is: a query, a triple, or a pair, which has no relation.
func find(ctx context.Context, names *scoring.Names, relations []string, line int, q triples.QueryLine) (one graph.Query, given workload.Given, err error) {
	one.Answer, given = graph.None, workload.GivenQueries
	if one.Source, err = names.Entity(ctx, line, q.Source); err != nil {
		return one, given, err
	}
	if q.Tail != "" {
		given = workload.GivenTriples
	}
	if _, named := slices.BinarySearch(relations, anyRelation); q.Tail != "" && q.Relation == anyRelation && !named {
		given = workload.GivenPairs
	} else if one.Relation, err = names.Relation(ctx, line, q.Relation, q.Inverse); err != nil {
		return one, given, err
	}
	if q.Tail != "" {
		one.Answer, err = names.Entity(ctx, line, q.Tail)
	}
	return one, given, err
}
