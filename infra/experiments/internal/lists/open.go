package lists

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

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

// Open reads a list, whose kind follows from its keys. threads is the number of threads of each command whose time is
// not compared. Errors about the file begin with its name, the line and the column.
func Open(ctx context.Context, path string, threads int) (l List, err error) {
	text, err := storage.ReadFile(ctx, path)
	if err != nil {
		return l, err
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(text, &keys); err != nil {
		return l, strict.Decode(path, text, &Grid{}) // says where
	}
	results := "results"
	switch {
	case keys["experiments"] != nil:
		var g Grid
		g, err = ReadGrid(ctx, path)
		l.Runs = g.Runs(threads)
	case keys["graphs"] != nil:
		results = ZeroshotResults
		_, l.Runs, err = ReadRuns[Zeroshot](ctx, path, threads)
	case keys["studied"] != nil:
		results, l.Fresh = FrontierResults, true
		_, l.Runs, err = ReadRuns[Frontier](ctx, path, threads)
	case keys["percents"] != nil:
		results = ReachResults
		_, l.Runs, err = ReadRuns[Reach](ctx, path, threads)
	case keys["entries"] != nil:
		l.Fresh = true
		_, l.Runs, err = ReadRuns[Benchmarks](ctx, path, threads)
	case keys["settings"] != nil:
		_, l.Runs, err = ReadRuns[truth.List](ctx, path, threads)
	default:
		err = fmt.Errorf("%s is no list: it has none of the keys experiments, graphs, studied, percents, entries and settings", path)
	}
	l.Results = filepath.Join(filepath.Dir(path), filepath.FromSlash(results))
	known := map[string]bool{}
	for _, r := range l.Runs {
		if name := strings.ToLower(r.Name); !runName.MatchString(name) || known[name] { // some file systems have one case
			err = cmp.Or(err, fmt.Errorf("%s: the run %q: a name of its own of letters, digits, dots and hyphens is needed", path, r.Name))
		}
		known[strings.ToLower(r.Name)] = true
	}
	return l, err
}

// runName matches names that become names of folders and files.
var runName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)?$`)

// ReadRuns reads a list of one kind and derives its runs.
func ReadRuns[L interface {
	Runs(threads int) ([]engine.Run, error)
}](ctx context.Context, path string, threads int) (list L, runs []engine.Run, err error) {
	if list, err = Read[L](ctx, path); err == nil {
		runs, err = list.Runs(threads)
	}
	return list, runs, err
}

// Read reads a list of one kind.
func Read[T any](ctx context.Context, path string) (list T, err error) {
	text, err := storage.ReadFile(ctx, path)
	if err == nil {
		err = strict.Decode(path, text, &list)
	}
	return list, err
}
