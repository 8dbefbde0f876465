package scoring

import (
	"context"
	"errors"
	"fmt"

	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
)

// unknownShown is how many of a file's unknown names are printed, and unknownSearched for how many distinct ones the
// closest names are found where all are kept: these take a search of the graph's names.
const unknownShown, unknownSearched = 20, 100

// UnknownName is a name of a line that the graph does not have.
type UnknownName struct {
	Line int
	*kg.UnknownNameError
}

// Names looks up the names of a file's lines, and collects those that the graph does not have, so
// that one run tells all.
type Names struct {
	lookup *kg.Lookup
	file   string
	// Keep is set to keep all unknown names, not only those that are printed.
	Keep bool
	// Unknown are the unknown names that are kept, Count is the number of all.
	Unknown  []UnknownName
	Count    int64
	searched map[[2]string]*kg.UnknownNameError // by kind and name
}

// NewNames returns a Names that looks up the names of a file and has met no unknown one.
func NewNames(lookup *kg.Lookup, file string) *Names {
	return &Names{lookup: lookup, file: file, searched: map[[2]string]*kg.UnknownNameError{}}
}

// Entity returns the id of an entity of a line, or any id if its name is unknown.
func (n *Names) Entity(ctx context.Context, line int, name string) (int32, error) {
	if !n.lookup.HasEntity(name) {
		return 0, n.collect(line, "entity", name, func() error {
			_, err := n.lookup.Entity(ctx, name)
			return err
		})
	}
	return n.lookup.Entity(ctx, name)
}

// Relation returns the id of a relation of a line, or of its inverse, or any id if its name is unknown.
func (n *Names) Relation(ctx context.Context, line int, name string, inverse bool) (int32, error) {
	if !n.lookup.HasRelation(name) {
		return 0, n.collect(line, "relation", name, func() error {
			_, err := n.lookup.Relation(ctx, name, inverse)
			return err
		})
	}
	return n.lookup.Relation(ctx, name, inverse)
}

// collect counts an unknown name, and keeps it with the closest names, which the error of search has, unless
// enough are searched for.
func (n *Names) collect(line int, kind, name string, search func() error) error {
	n.Count++
	if !n.Keep && len(n.Unknown) == unknownShown {
		return nil
	}
	unknown := n.searched[[2]string{kind, name}]
	if unknown == nil && len(n.searched) < unknownSearched {
		if err := search(); !errors.As(err, &unknown) {
			return fmt.Errorf("%s:%d: %w", n.file, line, err)
		}
		n.searched[[2]string{kind, name}] = unknown
	}
	if unknown == nil {
		unknown = &kg.UnknownNameError{Kind: kind, Name: name}
	}
	n.Unknown = append(n.Unknown, UnknownName{line, unknown})
	return nil
}

// Failed returns the error of the unknown names, or nil. It prints the first ones, unless there is only one.
func (n *Names) Failed(e *command.Environment) error {
	located := func(u UnknownName) error { return fmt.Errorf("%s:%d: %w", n.file, u.Line, u.UnknownNameError) }
	if n.Count == 0 {
		return nil
	}
	if n.Count == 1 {
		return located(n.Unknown[0])
	}
	for _, u := range n.Unknown[:min(len(n.Unknown), unknownShown)] {
		e.Progress.Print("%s", located(u))
	}
	if n.Count > unknownShown {
		return fmt.Errorf("%s: %s names are unknown, of which the first %d are above", n.file, progress.Count(n.Count), unknownShown)
	}
	return fmt.Errorf("%s: %d names are unknown", n.file, n.Count)
}
