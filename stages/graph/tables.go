package graph

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/storage"
	"tagnet/formats/tables"
	"tagnet/stages/triples"
)

// rowsRepeated counts rows left out because they stood there already. A repeated fact is two
// rows in each table that it is in.
var rowsRepeated = beam.NewCounter("graph", "rows_repeated")

// writeFn gathers the rows of a table, sorts them, so that the order of arrival is gone, and
// writes them. A worker holds a table in memory: 12 bytes an edge, 24 a query or answer.
type writeFn struct{ Folder string }

// ProcessElement writes one table.
func (f *writeFn) ProcessElement(ctx context.Context, file string, parts func(*Part) bool, emit func(Done)) error {
	var done Done
	var err error
	url := storage.Join(f.Folder, file)
	switch {
	case file == RejectsFile:
		done, err = writeRejects(ctx, url, parts)
	case isEdges(file):
		done, err = writeEdges(ctx, url, parts)
	case isQueries(file):
		done, err = writeQueries(ctx, url, parts)
	default:
		done, err = writeAnswers(ctx, url, parts)
	}
	if err != nil {
		return err
	}
	done.File = file
	rowsRepeated.Inc(ctx, done.Repeated)
	emit(done)
	return nil
}

func writeEdges(ctx context.Context, url string, parts func(*Part) bool) (Done, error) {
	var all tables.Edges
	var part Part
	for parts(&part) {
		if len(part.Rows) == 0 {
			continue
		}
		e, err := tables.DecodeEdges(part.Rows)
		if err != nil {
			return Done{}, err
		}
		all.Tails = append(all.Tails, e.Tails...)
		all.Relations = append(all.Relations, e.Relations...)
		all.Heads = append(all.Heads, e.Heads...)
	}
	repeated := sortEdges(&all)
	return Done{Rows: int64(all.Len()), Repeated: repeated}, tables.WriteEdges(ctx, url, all)
}

// row is a query or known answer with the split it is from, as a small number.
type row struct {
	source, relation, answer int32
	split                    int8
	reciprocal               bool
}

func compareRows(a, b row) int {
	return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.relation, b.relation), cmp.Compare(a.answer, b.answer), cmp.Compare(a.split, b.split))
}

func samePair(a, b row) bool { return a.source == b.source && a.relation == b.relation }
func sameFact(a, b row) bool { return samePair(a, b) && a.answer == b.answer }

// gather reads the parts of a table of queries or answers and sorts the rows.
func gather(parts func(*Part) bool) ([]row, error) {
	var all []row
	var part Part
	for parts(&part) {
		if len(part.Rows) == 0 {
			continue
		}
		queries, err := tables.DecodeQueries(part.Rows)
		if err != nil {
			return nil, err
		}
		split := int8(slices.Index(Splits, part.Split))
		all = slices.Grow(all, len(queries))
		for _, q := range queries {
			all = append(all, row{q.Source, q.Relation, q.Answer, split, q.Reciprocal})
		}
	}
	slices.SortFunc(all, compareRows)
	return all, nil
}

func writeQueries(ctx context.Context, url string, parts func(*Part) bool) (Done, error) {
	rows, err := gather(parts)
	if err != nil {
		return Done{}, err
	}
	var done Done
	queries := make([]tables.Query, 0, len(rows))
	for i, r := range rows {
		if i > 0 && sameFact(rows[i-1], r) {
			done.Repeated++
			continue
		}
		if i == 0 || !samePair(rows[i-1], r) {
			done.Distinct++
		}
		queries = append(queries, tables.Query{Source: r.source, Relation: r.relation, Answer: r.answer, Reciprocal: r.reciprocal})
	}
	done.Rows = int64(len(queries))
	return done, tables.WriteQueries(ctx, url, queries)
}

func writeAnswers(ctx context.Context, url string, parts func(*Part) bool) (Done, error) {
	rows, err := gather(parts)
	if err != nil {
		return Done{}, err
	}
	var done Done
	var answers tables.Answers
	flat := make([]int32, 0, len(rows))
	for i := 0; i < len(rows); {
		start := len(flat)
		pair := i
		for i < len(rows) && samePair(rows[pair], rows[i]) {
			first := rows[i] // the first split of the fact: rows are sorted by it last
			flat = append(flat, first.answer)
			done.Rows++
			for i++; i < len(rows) && sameFact(first, rows[i]); i++ {
				done.count(first, rows[i-1], rows[i])
			}
		}
		answers.Sources = append(answers.Sources, rows[pair].source)
		answers.Relations = append(answers.Relations, rows[pair].relation)
		answers.Lists = append(answers.Lists, flat[start:len(flat):len(flat)])
		done.Distinct++
	}
	return done, tables.WriteAnswers(ctx, url, answers)
}

// count notes a fact that stands again: in its own split, or in a later one as well.
func (d *Done) count(first, before, again row) {
	if again.split == before.split {
		d.Repeated++
		return
	}
	if Splits[first.split] != "train" {
		return
	}
	switch Splits[again.split] {
	case "valid":
		d.KnownValid++
	case "test":
		d.KnownTest++
	}
}

// writeRejects writes a line per rejected line, in the order of files and lines.
func writeRejects(ctx context.Context, url string, parts func(*Part) bool) (Done, error) {
	var all []triples.Reject
	var part Part
	for parts(&part) {
		if len(part.Rows) == 0 {
			continue
		}
		rejects, err := triples.DecodeRejects(part.Rows)
		if err != nil {
			return Done{}, err
		}
		all = append(all, rejects...)
	}
	slices.SortFunc(all, func(a, b triples.Reject) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	var text strings.Builder
	text.WriteString("file\tline\treason\ttext\n")
	for _, r := range all {
		fmt.Fprintf(&text, "%s\t%d\t%s\t%s\n", oneField(r.File), r.Line, oneField(r.Reason), oneField(r.Text))
	}
	return Done{RejectedLines: int64(len(all))}, storage.WriteFile(ctx, url, []byte(text.String()))
}

// oneField writes what would break a line of tab-separated text, or is no text, as \t, \xff and the like.
func oneField(text string) string {
	quoted := fmt.Sprintf("%+q", text)
	if plain := fmt.Sprintf("%q", text); strings.ToValidUTF8(text, "") == text {
		quoted = plain
	}
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
