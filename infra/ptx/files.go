package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"tagnet/formats/storage"
)

// difference is how a PTX file differs from what the sources compile to.
type difference struct {
	name   string
	reason string
	ptx    string // what the file should hold; empty for one that should not exist
}

// compare returns the PTX files of a folder that differ from those compiled, are missing, or have no source.
func compare(folder string, units []unit, compiled []string) ([]difference, error) {
	var stale []difference
	current := map[string]bool{}
	for i, u := range units {
		name := u.output()
		current[name] = true
		text, err := os.ReadFile(filepath.Join(folder, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			stale = append(stale, difference{name, "is missing", compiled[i]})
		case err != nil:
			return nil, fmt.Errorf("comparing the PTX: %w", err)
		case string(text) != compiled[i]:
			stale = append(stale, difference{name, fmt.Sprintf("is not what %s compiles to, from line %d on", u.source, firstDifference(string(text), compiled[i])), compiled[i]})
		}
	}
	existing, err := filepath.Glob(filepath.Join(folder, "*.ptx"))
	if err != nil {
		return nil, fmt.Errorf("listing the PTX: %w", err)
	}
	for _, path := range existing {
		if name := filepath.Base(path); !current[name] {
			stale = append(stale, difference{name, "has no source", ""})
		}
	}
	return stale, nil
}

// firstDifference returns the number of the first line in which two texts differ.
func firstDifference(a, b string) int {
	lines, others := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(lines), len(others)) {
		if lines[i] != others[i] {
			return i + 1
		}
	}
	return min(len(lines), len(others)) + 1
}

// staleness returns an error for each difference.
func staleness(folder string, stale []difference) []error {
	var problems []error
	for _, d := range stale {
		problems = append(problems, fmt.Errorf("%s %s: run make ptx and commit the result", filepath.Join(folder, d.name), d.reason))
	}
	return problems
}

// update writes the PTX files that differ, and removes those without a source.
func update(ctx context.Context, folder string, stale []difference) error {
	for _, d := range stale {
		path := filepath.Join(folder, d.name)
		if d.ptx == "" {
			if err := os.Remove(path); err != nil {
				return fmt.Errorf("removing PTX without a source: %w", err)
			}
			continue
		}
		if err := storage.WriteFile(ctx, path, []byte(d.ptx)); err != nil {
			return fmt.Errorf("writing the PTX: %w", err)
		}
	}
	return nil
}
