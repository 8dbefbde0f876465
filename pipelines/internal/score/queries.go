package score

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
	"tagnet/model/answer/workload"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
)

// ownQueries are the queries of a user's file.
type ownQueries struct {
	lines      []graph.Query
	duplicates int    // lines that repeat another one
	sha256     string // of the file
	given      workload.Given
	inGraph    int64 // triples that are edges of the graph
}

// readQueries reads the file of --queries, and looks up the ids of its names in the graph that is queried. It tells of all unknown ones at once.
func readQueries(ctx context.Context, e *command.Environment, url string, loaded *kg.KG, view *kg.View) (ownQueries, error) {
	return readOnce(ctx, "queries", url, func(name string, r io.Reader) (q ownQueries, err error) {
		hash := sha256.New()
		r = io.TeeReader(r, hash)
		seen := map[graph.Query]bool{}
		names := &fileNames{lookup: loaded.Lookup(view), file: name}
		err = triples.ReadQueries(name, r, func(line int, text triples.QueryLine) error {
			one, given, err := find(ctx, names, loaded.Relations, line, text)
			if err != nil {
				return err
			}
			if line > 1 && given != q.given {
				return remedy.Errorf("put them into files of their own", "%s:%d: one of the %s among %s", name, line, givenNames[given], givenNames[q.given])
			}
			q.given = given
			if names.count > 0 {
				return nil
			}
			switch {
			case seen[one]:
				q.duplicates++
			case given == workload.GivenTriples && view.Graph.Has(one.Source, one.Relation, one.Answer):
				q.inGraph++
			}
			seen[one] = true
			q.lines = append(q.lines, one)
			return nil
		})
		if err == nil {
			err = names.failed(e)
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
func find(ctx context.Context, names *fileNames, relations []string, line int, q triples.QueryLine) (one graph.Query, given workload.Given, err error) {
	one.Answer, given = graph.None, workload.GivenQueries
	if one.Source, err = names.entity(ctx, line, q.Source); err != nil {
		return one, given, err
	}
	if q.Tail != "" {
		given = workload.GivenTriples
	}
	if _, named := slices.BinarySearch(relations, anyRelation); q.Tail != "" && q.Relation == anyRelation && !named {
		given = workload.GivenPairs
	} else if one.Relation, err = names.relation(ctx, line, q.Relation, q.Inverse); err != nil {
		return one, given, err
	}
	if q.Tail != "" {
		one.Answer, err = names.entity(ctx, line, q.Tail)
	}
	return one, given, err
}

// standardInput is the value of a flag that names a file, for what is piped into the command.
const standardInput = "-"

// readOnce calls read with the file of a flag, or standard input, and its name. It reads the file from its beginning to its end,
// as a pipe must be, and does not wait for a pipe's other end longer than ctx lasts.
func readOnce[T any](ctx context.Context, flag, url string, read func(name string, r io.Reader) (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		var r result
		if url == standardInput {
			r.value, r.err = read("standard input", os.Stdin)
			done <- r
			return
		}
		var file io.ReadCloser
		if file, r.err = storage.OpenStream(ctx, url); r.err != nil {
			r.err = &openError{r.err}
		} else {
			r.value, r.err = read(url, file)
			file.Close()
		}
		done <- r
	}()
	select {
	case r := <-done:
		failed := new(openError)
		switch {
		case errors.As(r.err, &failed) && errors.Is(r.err, fs.ErrNotExist):
			return r.value, command.MissingFile(flag, url, r.err)
		case errors.As(r.err, &failed):
			return r.value, fmt.Errorf("reading --%s: %w", flag, r.err)
		}
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// openError is the error of a file that cannot be opened.
type openError struct{ error }

func (e *openError) Unwrap() error { return e.error }
