package triples

import (
	"bytes"
	"io"
)

// ReadNames calls each for every name of a text of one name a line, in order, with the number of its line. Lines and
// names are those of Read; empty lines at the end are skipped. The error of another line is a BadLine.
func ReadNames(name string, r io.Reader, each func(line int, text string) error) error {
	empty := 0 // the number of the first empty line since the last name
	bad := func(b BadLine) error { return b }
	return readLines(name, "one name", 1, r, func(number int, line []byte) error {
		if len(line) == 0 {
			if empty == 0 {
				empty = number
			}
			return nil
		}
		if empty > 0 {
			return bad(BadLine{File: name, Line: empty, Reason: "empty line", Remedy: "write one name a line"})
		}
		reason, remedy := checkText(line)
		if reason == "" && bytes.IndexByte(line, '\t') >= 0 {
			reason, remedy = "a tab", "write one name a line, without ids or other columns"
		}
		if reason != "" {
			return bad(BadLine{File: name, Line: number, Reason: reason, Remedy: remedy, Text: string(line)})
		}
		return each(number, string(line))
	}, bad)
}
