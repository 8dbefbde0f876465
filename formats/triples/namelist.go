package triples

import (
	"bytes"
	"io"
)

// ReadNames calls each for every name of a text of one name a line, in order, with the number of its line. Lines and
// names are those of Read; blank lines at the end are skipped. The error of another line is a BadLine.
func ReadNames(name string, r io.Reader, each func(line int, text string) error) error {
	return readStrictly(name, "one name", r, func(number int, line []byte) error {
		reason, remedy := checkText(line)
		switch {
		case reason != "":
		case bytes.IndexByte(line, '\t') >= 0:
			reason, remedy = "a tab", "write one name a line, without ids or other columns"
		case len(line) > MaxName:
			reason, remedy = tooLongName("the name", len(line))
		}
		if reason != "" {
			return BadLine{File: name, Line: number, Reason: reason, Remedy: remedy, Text: Shown(line)}
		}
		return each(number, string(line))
	})
}

// readStrictly calls each for every line but blank ones at the end of a text, and returns its first error. A blank line before
// another line is a BadLine, and a text of blank lines has no lines.
func readStrictly(name, fields string, r io.Reader, each func(number int, line []byte) error) error {
	blank, read := 0, false // the first of the blank lines since the last other one
	err := readLines(name, fields, 1, r, func(number int, line []byte) error {
		if len(line) == 0 {
			if blank == 0 {
				blank = number
			}
			return nil
		}
		if blank > 0 {
			return BadLine{File: name, Line: blank, Reason: "blank line", Remedy: "remove it"}
		}
		read = true
		return each(number, line)
	}, func(b BadLine) error { return b })
	if err == nil && !read {
		return EmptyError(name, fields)
	}
	return err
}
