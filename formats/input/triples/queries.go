package triples

import (
	"bytes"
	"io"
	"strings"

	"tagnet/formats/remedy"
)

// QueryLine is a query as a user's file has it, with names.
type QueryLine struct {
	Source, Relation string
	// Inverse is set for a relation with a leading ~, which asks for heads. Only queries without a tail have it.
	Inverse bool
	// Tail is the third field, or "".
	Tail string
}

// ReadQueries calls each for every query of a text: "source TAB relation", where a leading ~ selects the inverse
// relation, or "head TAB relation TAB tail" on all lines. It reads the text like Read, and is strict: it returns the
// first line that is not a query as a BadLine. Blank lines at the end are skipped.
func ReadQueries(name string, r io.Reader, each func(line int, q QueryLine) error) error {
	fields, cut := "source and relation", make([]int, 2)
	return chunkLines{name: name, fields: fields, first: 1, text: r, bad: func(b BadLine) error { return b }}.read(func(number int, line []byte) error {
		// The first line decides how many fields all lines have.
		if number == 1 && bytes.Count(line, []byte("\t")) == 2 {
			fields, cut = "head, relation and tail", make([]int, 3)
		}
		reason, help := splitFields(line, cut, fields)
		if found := bytes.Count(line, []byte("\t")) + 1; reason != "" && number > 1 && (found == 2 || found == 3) && found != len(cut) {
			help = remedy.Do("the first line has %d: put queries (source, relation) and triples (head, relation, tail) into files of their own", len(cut))
		}
		if number == 1 && reason != "" && bytes.Count(line, []byte("\t")) == 0 && len(line) > 0 {
			help = remedy.Do("separate source and relation by a tab, or head, relation and tail of triples by two, without a line of columns' names")
		}
		var q QueryLine
		if reason == "" {
			text := string(line)
			q.Source, q.Relation = text[:cut[0]], text[cut[0]+1:cut[1]]
			if len(cut) > 2 {
				q.Tail = text[cut[1]+1:]
			}
			q.Relation, q.Inverse = strings.CutPrefix(q.Relation, "~")
		}
		// Only a query can be inverse: a triple is written in its own direction.
		switch {
		case q.Inverse && q.Tail != "":
			reason, help = "the relation of a triple begins with ~", remedy.Do("exchange head and tail, and leave the ~ out")
		case q.Inverse && q.Relation == "":
			reason, help = "field 2 of 2 is ~ without a relation", remedy.Do("write the relation after the ~")
		}
		if reason != "" {
			return BadLine{File: name, Line: number, Reason: reason, Remedy: help, Text: Shown(line)}
		}
		return each(number, q)
	})
}
