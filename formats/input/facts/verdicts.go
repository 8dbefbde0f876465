package facts

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"tagnet/formats/input/triples"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/verdicts"
)

// ReadVerdicts calls each for every verdict of TSV or CSV, in order. With a first line of columns' names, one
// of them is verdict, and rows without one are passed over, as in a list of facts that is partly judged;
// without it, fields four to seven are the judgment, the time, who and the weight. The error of a line that is
// no verdict is a triples.BadLine.
func ReadVerdicts(ctx context.Context, url string, each func(v verdicts.Verdict) error) error {
	d, file, err := openTable(ctx, url, Options{})
	if err != nil {
		return err
	}
	defer file.Close()
	columns, first := verdicts.Usual, true
	rows := rowText{url, d, "head, relation, tail and true or false", ", separated by tabs"}
	return rows.each(storage.Interruptible(ctx, file), func(line int, fields []string, row string) error {
		if first {
			if first = false; d.Heading {
				if d.RowNames {
					fields = append([]string{""}, fields...)
				}
				at, _ := usual(fields)
				if columns, err = verdicts.ColumnsOf(fields, at); err != nil {
					return fmt.Errorf("%s:%d: %w", url, line, err)
				}
				return nil
			}
		}
		v, reason, help := columns.Verdict(fields, d.Heading)
		if reason != "" {
			return triples.BadLine{File: url, Line: line, Reason: reason, Remedy: help, Text: triples.Shown([]byte(row))}
		}
		if v.Judgment == "" {
			return nil
		}
		return each(v)
	}, func(b triples.BadLine) error { return b })
}

// judged are the verdicts of a table of facts with a column of them, in memory, since the last one on a fact counts.
type judged struct {
	columns  verdicts.Columns
	last     map[verdicts.Fact]verdicts.Verdict
	unjudged int64
}

// newJudged returns the verdicts, none yet, of a table with columns of these names, or without names.
func newJudged(names []string, at [3]int) *judged {
	j := &judged{columns: verdicts.Usual, last: map[verdicts.Fact]verdicts.Verdict{}}
	if columns, err := verdicts.ColumnsOf(names, at); err == nil {
		j.columns = columns
	}
	return j
}

// judge keeps the verdict of a row.
func (t *table) judge(line int, fields []string, text string) error {
	v, reason, help := t.judged.columns.Verdict(fields, true)
	switch {
	case reason != "":
		return t.bad(triples.BadLine{File: t.url, Line: line, Reason: reason, Remedy: help, Text: triples.Shown([]byte(text))})
	case v.Judgment == "":
		t.judged.unjudged++
	default:
		v.Line = line
		t.judged.last[v.Fact] = v
	}
	return nil
}

// end calls each for the facts that are true, and counts the others.
func (j *judged) end(counts *Counts, each Each) (err error) {
	counts.Unread, counts.Unjudged = nil, j.unjudged
	for _, v := range slices.SortedFunc(maps.Values(j.last), func(a, b verdicts.Verdict) int { return cmp.Compare(a.Line, b.Line) }) {
		switch {
		case v.Judgment == verdicts.Undo:
			counts.Unjudged++
		case v.Judgment == verdicts.False:
			counts.JudgedFalse = append(counts.JudgedFalse, Fact(v.Fact))
		case err == nil:
			err = each(v.Line, Fact(v.Fact))
		}
	}
	return err
}
