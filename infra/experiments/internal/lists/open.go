package lists

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/infra/internal/engine"
	"tagnet/infra/truth"
)

// List is a list of runs.
type List struct {
	Runs []engine.Run
	// Results is the folder of their results.
	Results string
	// Fresh lists begin with an empty folder of the work: their commands must not find what they wrote before.
	Fresh bool
}

// Open reads a list, whose kind follows from its keys. threads is the number of threads of each command whose time is not compared. Errors about the
// file begin with its name, the line and the column.
func Open(ctx context.Context, path string, threads int) (l List, err error) {
	text, err := storage.ReadFile(ctx, path)
	if err != nil {
		return l, err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return l, strict.Decode(path, text, &Grid{}) // says where
	}
	l.Results = filepath.Join(filepath.Dir(path), "results")
	switch {
	case keys["experiments"] != nil:
		g, err := ReadGrid(ctx, path)
		l.Runs = g.Runs(threads)
		return l, err
	case keys["graphs"] != nil:
		l.Results = filepath.Join(filepath.Dir(path), ZeroshotResults)
		z, err := ReadZeroshot(ctx, path)
		if err == nil {
			l.Runs, err = z.Runs()
		}
		return l, err
	case keys["percents"] != nil:
		l.Results = filepath.Join(filepath.Dir(path), ReachResults)
		r, err := ReadReach(ctx, path)
		l.Runs = r.Runs()
		return l, err
	case keys["entries"] != nil:
		b, err := ReadBenchmarks(ctx, path)
		l.Runs, l.Fresh = b.Runs(), true
		return l, err
	case keys["settings"] != nil:
		t, err := truth.ReadList(ctx, path)
		l.Runs = t.Runs(threads)
		return l, err
	}
	return l, fmt.Errorf("%s is no list: it has none of the keys experiments, graphs, percents, entries and settings", path)
}

// decode reads a list.
func decode[T any](ctx context.Context, path string) (list T, text []byte, err error) {
	if text, err = storage.ReadFile(ctx, path); err == nil {
		err = strict.Decode(path, text, &list)
	}
	return list, text, err
}
