package ask

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"tagnet/formats/input/triples"
	"tagnet/formats/names"
	"tagnet/formats/remedy"
	"tagnet/model/answer/workload"
	"tagnet/model/graph"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/scoring"
)

// lines holds what a user's file asks.
type lines struct {
	queries    []graph.Query         // one for each line
	skipped    int64                 // lines with unknown names, for which queries has what workload.TableKind.Skips
	unknown    []scoring.UnknownName // of the skipped lines
	duplicates int64                 // that repeat another one
	sha256     string                // of the file
	tableKind  workload.TableKind
	inGraph    int64 // triples that are edges of the graph
}

// readLines reads the file of --queries, and looks up the ids of its names in the graph that is queried. It tells of
// all unknown ones at once, or skips their lines.
func (f *flags) readLines(ctx context.Context, e *command.Environment, loaded *kg.KG, view *kg.View) (lines, error) {
	url := f.queries
	return scoring.ReadOnce(ctx, "queries", url, func(name string, r io.Reader) (q lines, err error) {
		hash := sha256.New()
		r = io.TeeReader(r, hash)
		seen := map[graph.Query]bool{}
		found := scoring.NewNames(loaded.Lookup(view), name)
		found.Keep = f.onUnknown == skip
		err = triples.ReadQueries(name, r, func(line int, text triples.QueryLine) error {
			// Triples, pairs and queries are not mixed in one file.
			before := found.Count
			one, kind, err := find(ctx, found, loaded.Relations, line, text)
			if err != nil {
				return err
			}
			if line > 1 && kind != q.tableKind {
				return remedy.Errorf(remedy.Do("put them into files of their own"),
					"%s:%d: one of the %s among %s", name, line, givenNames[kind], givenNames[q.tableKind])
			}
			q.tableKind = kind
			switch {
			case found.Count > before && found.Keep:
				q.skipped++
				q.queries = append(q.queries, kind.Skipped())
				return nil
			case found.Count > 0 && !found.Keep:
				return nil
			}
			// Duplicates are answered again, but told.
			switch {
			case seen[one]:
				q.duplicates++
			case kind == workload.GivenTriples && view.Graph.Has(one.Source, one.Relation, one.Answer):
				q.inGraph++
			}
			seen[one] = true
			q.queries = append(q.queries, one)
			return nil
		})
		q.unknown = found.Unknown
		if err == nil && (!found.Keep || q.skipped == int64(len(q.queries))) {
			err = f.refuse(found.Failed(e))
		}
		if err == nil {
			_, err = io.Copy(io.Discard, r) // what follows a compressed text
		}
		q.sha256 = fmt.Sprintf("%x", hash.Sum(nil))
		return q, err
	})
}

// refuse adds to the error of unknown names what can be done about them.
func (f *flags) refuse(err error) error {
	switch {
	case err == nil:
		return nil
	case f.onUnknown == skip:
		return fmt.Errorf("%w; no line is left to answer", err)
	}
	return fmt.Errorf("%w; --on_unknown %s answers the other lines", err, skip)
}

// skippedFile lists the unknown names of the lines that --on_unknown skip leaves out, in the folder of the answers.
const skippedFile = "skipped.tsv"

func (q *lines) skippedText() []byte {
	text := []byte("line\tkind\tname\tclosest\n")
	for _, u := range q.unknown {
		text = fmt.Appendf(text, "%d\t%s\t%s\t%s\n", u.Line, u.Kind, names.Field(u.Name), names.Field(strings.Join(u.Closest, ", ")))
	}
	return text
}

// anyRelation stands for all relations of a pair, where no relation has this name.
const anyRelation = "?"

// find looks up the names of a line, and says what it is: a query, a triple, or a pair, which has no relation.
func find(ctx context.Context, names *scoring.Names, relations []string, line int, q triples.QueryLine) (one graph.Query, kind workload.TableKind, err error) {
	one.Answer, kind = graph.None, workload.GivenQueries
	if one.Source, err = names.Entity(ctx, line, q.Source); err != nil {
		return one, kind, err
	}
	if q.Tail != "" {
		kind = workload.GivenTriples
	}
	if _, named := slices.BinarySearch(relations, anyRelation); q.Tail != "" && q.Relation == anyRelation && !named {
		kind = workload.GivenPairs
	} else if one.Relation, err = names.Relation(ctx, line, q.Relation, q.Inverse); err != nil {
		return one, kind, err
	}
	if q.Tail != "" {
		one.Answer, err = names.Entity(ctx, line, q.Tail)
	}
	return one, kind, err
}
