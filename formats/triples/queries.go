package triples

import (
	"io"
	"strings"
)

// ReadQueries calls each for every query of a text: "source TAB relation", where a leading ~ selects
// the inverse relation, which asks for heads. It reads the text like Read, and is strict: it returns
// the first line that is not a query as a BadLine. Blank lines at the end are skipped.
func ReadQueries(name string, r io.Reader, each func(line int, source, relation string, inverse bool) error) error {
	const fields = "source and relation"
	return readLines(name, fields, 1, r, nil, func(number int, line []byte) error {
		var cut [2]int
		reason, remedy := splitFields(line, cut[:], fields)
		if reason == "" && string(line[cut[0]:]) == "\t~" {
			reason, remedy = "field 2 of 2 is ~ without a relation", "write the relation after the ~"
		}
		if reason != "" {
			return BadLine{File: name, Line: number, Reason: reason, Remedy: remedy, Text: Shown(line)}
		}
		text := string(line)
		relation, inverse := strings.CutPrefix(text[cut[0]+1:], "~")
		return each(number, text[:cut[0]], relation, inverse)
	}, func(b BadLine) error { return b })
}
