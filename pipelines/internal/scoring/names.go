package scoring

import (
	"context"
	"errors"
	"fmt"

	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
)

// unknownShown is how many of a file's unknown names are printed, with the closest ones, which take a search of the graph's names.
const unknownShown = 20

// Names looks up the names of a file's lines, and collects those that the graph does not have, so that one run tells all.
type Names struct {
	lookup *kg.Lookup
	file   string
	first  []error // of the unknown names
	count  int64   // of them
}

// NewNames returns a Names that looks up the names of a file and has met no unknown one.
func NewNames(lookup *kg.Lookup, file string) *Names { return &Names{lookup: lookup, file: file} }

// Unknown reports whether a name was unknown.
func (n *Names) Unknown() bool { return n.count > 0 }

// Entity returns the id of an entity of a line, or any id if its name is unknown.
func (n *Names) Entity(ctx context.Context, line int, name string) (int32, error) {
	if len(n.first) == unknownShown && !n.lookup.HasEntity(name) {
		n.count++
		return 0, nil
	}
	id, err := n.lookup.Entity(ctx, name)
	return id, n.collect(line, err)
}

// Relation returns the id of a relation of a line, or of its inverse, or any id if its name is unknown.
func (n *Names) Relation(ctx context.Context, line int, name string, inverse bool) (int32, error) {
	if len(n.first) == unknownShown && !n.lookup.HasRelation(name) {
		n.count++
		return 0, nil
	}
	id, err := n.lookup.Relation(ctx, name, inverse)
	return id, n.collect(line, err)
}

// collect takes the error of an unknown name, and returns others.
func (n *Names) collect(line int, err error) error {
	if err == nil {
		return nil
	}
	located := fmt.Errorf("%s:%d: %w", n.file, line, err)
	if !errors.As(err, new(*kg.UnknownNameError)) {
		return located
	}
	n.count++
	n.first = append(n.first, located)
	return nil
}

// Failed returns the error of the unknown names, or nil. It prints the first ones, unless there is only one.
func (n *Names) Failed(e *command.Environment) error {
	if n.count == 0 {
		return nil
	}
	if n.count == 1 {
		return n.first[0]
	}
	for _, err := range n.first {
		e.Progress.Print("%s", err)
	}
	if n.count > unknownShown {
		return fmt.Errorf("%s: %s names are unknown, of which the first %d are above", n.file, progress.Count(n.count), unknownShown)
	}
	return fmt.Errorf("%s: %d names are unknown", n.file, n.count)
}
