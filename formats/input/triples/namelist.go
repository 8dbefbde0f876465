package triples

import (
	"bytes"
	"io"

	"tagnet/formats/remedy"
)

// ReadNames calls each for every name of a text of one name a line, in order, with the number of its line. Lines and
// names follow the rules of Read; blank lines at the end are skipped. The error of another line is a BadLine.
func ReadNames(name string, r io.Reader, each func(line int, text string) error) error {
	return chunkLines{name: name, fields: "one name", first: 1, text: r, bad: func(b BadLine) error { return b }}.read(func(number int, line []byte) error {
		reason, help := checkText(line)
		switch {
		case reason != "":
		case len(line) == 0:
			reason, help = "blank line", remedy.Do("remove it")
		case bytes.IndexByte(line, '\t') >= 0:
			reason, help = "a tab", remedy.Do("write one name a line, without ids or other columns")
		case len(line) > MaxName:
			reason, help = tooLongName("the name", len(line))
		}
		if reason != "" {
			return BadLine{File: name, Line: number, Reason: reason, Remedy: help, Text: Shown(line)}
		}
		return each(number, string(line))
	})
}
