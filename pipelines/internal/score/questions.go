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

// questions are those of a file.
type questions struct {
	asked    []tables.Query // each once
	repeated int            // lines that ask again
	sha256   string         // of the file
}

// readQuestions reads a file of questions, or what is piped through it, and puts ids to their
// names, over the graph that the split asks.
func readQuestions(ctx context.Context, url string, loaded *kg.KG, split string) (questions, error) {
	text, err := readOnce(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return questions{}, command.Usage("--queries: %v", err)
	}
	if err != nil {
		return questions{}, fmt.Errorf("reading --queries: %w", err)
	}
	lookup := kg.NewLookup(loaded.Of(split).Entities, loaded.Relations)
	q := questions{sha256: fmt.Sprintf("%x", sha256.Sum256(text))}
	seen := map[tables.Query]bool{}
	err = triples.ReadQueries(url, bytes.NewReader(text), func(line int, source, relation string, reciprocal bool) error {
		one, err := lookup.Query(source, relation, reciprocal)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", url, line, err)
		}
		if seen[one] {
			q.repeated++
			return nil
		}
		seen[one] = true
		q.asked = append(q.asked, one)
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
