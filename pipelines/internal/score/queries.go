package score

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/formats/triples"
	"tagnet/model/kg"
	"tagnet/pipelines/internal/command"
)

// ownQueries are the queries of a user's file.
type ownQueries struct {
	lines      []tables.Query
	duplicates int    // lines that repeat another one
	sha256     string // of the file
}

// readQueries reads a file of queries, or a pipe, and looks up the ids of their names in the graph of
// the split.
func readQueries(ctx context.Context, url string, loaded *kg.KG, split string) (ownQueries, error) {
	text, err := readOnce(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return ownQueries{}, command.Usage("--queries: %v", err)
	}
	if err != nil {
		return ownQueries{}, fmt.Errorf("reading --queries: %w", err)
	}
	lookup := kg.NewLookup(loaded.Of(split).Entities, loaded.Relations)
	q := ownQueries{sha256: fmt.Sprintf("%x", sha256.Sum256(text))}
	seen := map[tables.Query]bool{}
	err = triples.ReadQueries(url, bytes.NewReader(text), func(line int, source, relation string, inverse bool) error {
		one, err := lookup.Query(ctx, source, relation, inverse)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", url, line, err)
		}
		if seen[one] {
			q.duplicates++
		}
		seen[one] = true
		q.lines = append(q.lines, one)
		return nil
	})
	return q, err
}

// readOnce reads a file from its beginning to its end, as a pipe must be. It does not wait for a
// pipe's other end longer than ctx lasts.
func readOnce(ctx context.Context, url string) ([]byte, error) {
	var text []byte
	done := make(chan error, 1)
	go func() {
		r, err := storage.Open(ctx, url)
		if err == nil {
			text, err = io.ReadAll(r)
			r.Close()
		}
		done <- err
	}()
	select {
	case err := <-done:
		return text, err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
