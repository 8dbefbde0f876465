package facts

import (
	"cmp"
	"context"
	"errors"
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
	format, err := Detect(ctx, url)
	if err != nil {
		return err
	}
	if format != CSV {
		format = TSV
	}
	d, err := Divide(ctx, url, Options{Format: format})
	if err != nil {
		return err
	}
	file, err := storage.Open(ctx, url)
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
				if columns, _, err = verdicts.ColumnsOf(fields, &at); err != nil {
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
	last     map[verdicts.Fact]judgment
	unjudged int64
}

type judgment struct {
	line int
	verdicts.Verdict
}

// judgedOf returns the verdicts, none yet, of a table with columns of these names, or nil if none of them is that of
// verdicts. A table without names has them if it has the name of a workspace's file.
func judgedOf(url string, names []string, at [3]int) *judged {
	j := &judged{columns: verdicts.Usual, last: map[verdicts.Fact]judgment{}}
	var err error
	if names != nil {
		j.columns, _, err = verdicts.ColumnsOf(names, &at)
	}
	if err != nil || names == nil && storage.Base(url) != verdicts.File {
		return nil
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
		t.judged.last[v.Fact] = judgment{line, v}
	}
	return nil
}

// end calls each for the facts that are true, and refuse, unless it is nil, for those that are false.
func (j *judged) end(counts *Counts, refuse func(Fact), each Each) (err error) {
	counts.Unread, counts.Unjudged = nil, j.unjudged
	for _, v := range slices.SortedFunc(maps.Values(j.last), func(a, b judgment) int { return cmp.Compare(a.line, b.line) }) {
		switch {
		case v.Judgment == verdicts.Undo:
			counts.Unjudged++
		case v.Judgment == verdicts.True && err == nil:
			err = each(v.line, Fact(v.Fact))
		case v.Judgment == verdicts.False:
			if counts.JudgedFalse++; refuse != nil {
				refuse(Fact(v.Fact))
			}
		}
	}
	return err
}

// errUnjudged ends the reading of a table without verdicts.
var errUnjudged = errors.New("no column has verdicts")

// Refused calls refuse for every fact that a table with a column of verdicts judges false, and passes over bad lines.
func Refused(ctx context.Context, url string, o Options, refuse func(Fact)) error {
	o.refuse, o.Entities, o.Relations = refuse, nil, nil // labels count the ids without a name
	_, err := Read(ctx, url, o, func(int, Fact) error { return nil }, func(triples.BadLine) error { return nil })
	if errors.Is(err, errUnjudged) || errors.Is(err, triples.ErrEmpty) {
		return nil
	}
	return err
}
