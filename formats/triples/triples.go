package triples

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Triple is a fact as it is written: head, relation, tail. The names are views of the line,
// which the next one overwrites.
type Triple struct{ Head, Relation, Tail []byte }

// Line is the line that the fact is written as, without its end.
func (t Triple) Line() string {
	return string(bytes.Join([][]byte{t.Head, t.Relation, t.Tail}, []byte("\t")))
}

// ErrEmpty is the error of a file without a single line.
var ErrEmpty = errors.New("the file is empty")

// BadLine is a line that is no fact, or one that is of no use, and why. It is an error that begins "file:line:".
type BadLine struct {
	File string
	Line int // from 1
	// Reason says what is wrong, Remedy what to do about it.
	Reason, Remedy string
	// Text is the line without its end; of an overlong line, only the beginning.
	Text string
}

// Error is "file:line: reason; remedy".
func (b BadLine) Error() string {
	return fmt.Sprintf("%s:%d: %s; %s", b.File, b.Line, b.Reason, b.Remedy)
}

// Read calls each for every fact of a text, in order, with the number of its line, and bad
// for every line that is none. An error of either stops reading and is returned as it is, so
// a bad that returns its argument makes reading strict.
//
// Lines end in LF or CRLF, the last one also in nothing; a byte-order mark is skipped; gzip
// is detected by its first bytes. A fact is three fields, none empty, separated by single
// tabs, in UTF-8 without NUL. Spaces belong to names. The name stands in errors. A text
// without lines is ErrEmpty; one cut short or damaged within gzip is an error after the
// lines that could be read.
func Read(name string, r io.Reader, each func(line int, t Triple) error, bad func(BadLine) error) error {
	return ReadPart(name, 1, r, each, bad)
}

// ReadPart is Read of a part of a plain text that begins with the given line, from 1. Only the
// first part may have a byte-order mark or be gzip, and must have a line.
func ReadPart(name string, first int, r io.Reader, each func(line int, t Triple) error, bad func(BadLine) error) error {
	const fields = "head, relation and tail"
	return readLines(name, fields, first, r, func(number int, line []byte) error {
		var cut [3]int
		if reason, remedy := splitFields(line, cut[:], fields); reason != "" {
			return bad(BadLine{File: name, Line: number, Reason: reason, Remedy: remedy, Text: string(line)})
		}
		return each(number, Triple{Head: line[:cut[0]], Relation: line[cut[0]+1 : cut[1]], Tail: line[cut[1]+1:]})
	}, bad)
}

// splitFields finds the ends of a line's len(ends) fields, or says what is wrong with it.
func splitFields(line []byte, ends []int, fields string) (reason, remedy string) {
	if reason, remedy = checkText(line); reason != "" {
		return reason, remedy
	}
	found := 0
	for i, c := range line {
		if c != '\t' {
			continue
		}
		if found < len(ends) {
			ends[found] = i
		}
		found++
	}
	if found < len(ends) {
		ends[found] = len(line)
	}
	found++
	if found != len(ends) {
		return wrongCount(line, found, len(ends), fields)
	}
	start := 0
	for i, end := range ends {
		if end == start {
			return fmt.Sprintf("field %d of %d is empty", i+1, len(ends)), "give " + fields + " a name each"
		}
		start = end + 1
	}
	return "", ""
}

// wrongCount words the commonest mistake, spaces for tabs, in its own way.
func wrongCount(line []byte, found, want int, fields string) (reason, remedy string) {
	remedy = fmt.Sprintf("separate %s by single tabs", fields)
	if want == 2 {
		remedy = fmt.Sprintf("separate %s by a tab", fields)
	}
	switch words := len(bytes.Fields(line)); {
	case len(bytes.TrimSpace(line)) == 0 && found == 1:
		return "blank line", "remove it"
	case found < want && bytes.ContainsRune(line, ' ') && (found == 1 || words == want):
		return "spaces where tabs belong", remedy
	}
	plural := "s"
	if found == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d field%s instead of %d", found, plural, want), remedy
}

// ReadQueries calls each for every query of a text: "source TAB relation", where a
// leading ~ on the relation selects the inverse relation, which asks for heads. It
// takes the text as Read does, and is strict: the first line that is no query is the
// error, a BadLine.
func ReadQueries(name string, r io.Reader, each func(line int, source, relation string, inverse bool) error) error {
	const fields = "source and relation"
	strict := func(b BadLine) error { return b }
	return readLines(name, fields, 1, r, func(number int, line []byte) error {
		var cut [2]int
		reason, remedy := splitFields(line, cut[:], fields)
		if reason == "" && string(line[cut[0]:]) == "\t~" {
			reason, remedy = "field 2 of 2 is ~ without a relation", "write the relation behind the ~"
		}
		if reason != "" {
			return BadLine{File: name, Line: number, Reason: reason, Remedy: remedy, Text: string(line)}
		}
		text := string(line)
		relation, inverse := strings.CutPrefix(text[cut[0]+1:], "~")
		return each(number, text[:cut[0]], relation, inverse)
	}, strict)
}
