package triples

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"tagnet/formats/remedy"
)

// Triple is a fact by names. They are views of a buffer that the next line overwrites.
type Triple struct{ Head, Relation, Tail []byte }

// Line returns the line of the fact, without its end.
func (t Triple) Line() string {
	return string(bytes.Join([][]byte{t.Head, t.Relation, t.Tail}, []byte("\t")))
}

// ErrEmpty is the error of a file without any line.
var ErrEmpty = errors.New("the file is empty")

// EmptyError returns the error of a file without any line. fields says what a line has.
func EmptyError(name, fields string) error {
	return fmt.Errorf("%s: %w; it needs lines of %s", name, ErrEmpty, fields)
}

// BadLine is a line that is not a fact, or a fact that cannot be used, with the reason. As an error it
// begins "file:line:".
type BadLine struct {
	File string
	Line int // from 1
	// Reason says what is wrong, Remedy how to correct it.
	Reason string
	Remedy remedy.Help
	// Text is the line without its end, or the beginning of a long line with its length.
	Text string
}

// Error returns "file:line: reason; remedy".
func (b BadLine) Error() string {
	return b.Unwrap().Error()
}

// Unwrap returns the same with the remedy by itself.
func (b BadLine) Unwrap() error {
	return remedy.Errorf(b.Remedy, "%s:%d: %s", b.File, b.Line, b.Reason)
}

// Read calls each for every fact of a text, in order, with the number of its line, and bad for every
// other line. It stops at the first error that one of them returns, and returns it. So with a bad that
// returns its argument, Read is strict.
//
// Lines end in LF or CRLF; the last may lack its end. Blank lines at the end are skipped. A byte-order mark is skipped,
// and gzip, bzip2 and zstd are recognized by their first bytes. A fact has three fields separated by single tabs, none
// of them empty or longer than MaxName, in UTF-8 without NUL, and its relation does not begin with ~. Spaces are part
// of names. Errors mention name. The error of a text without lines wraps ErrEmpty. If compressed data are cut short or
// damaged, Read returns an error after the lines that could be read.
func Read(name string, r io.Reader, each func(line int, t Triple) error, bad func(BadLine) error) error {
	return readChunk(name, 1, r, nil, each, bad)
}

// readChunk reads, like Read, a chunk of a plain text that begins with line first, from 1; after is the text behind it.
// Only the first chunk may begin with a byte-order mark or be compressed, and only it must have a line.
func readChunk(name string, first int, r, after io.Reader, each func(line int, t Triple) error, bad func(BadLine) error) error {
	const fields = "head, relation and tail"
	return chunkLines{name: name, fields: fields, first: first, text: r, after: after, bad: bad}.read(func(number int, line []byte) error {
		var cut [3]int
		reason, help := splitFields(line, cut[:], fields)
		if reason == "" && line[cut[0]+1] == '~' {
			reason, help = inverseName(line[cut[0]+1 : cut[1]])
		}
		if reason != "" {
			return bad(BadLine{File: name, Line: number, Reason: reason, Remedy: help, Text: Shown(line)})
		}
		return each(number, Triple{Head: line[:cut[0]], Relation: line[cut[0]+1 : cut[1]], Tail: line[cut[1]+1:]})
	})
}

// inverseName returns the error of a relation whose name begins with ~: in a query it would be the inverse
// of another relation.
func inverseName(relation []byte) (reason string, help remedy.Help) {
	return fmt.Sprintf("relation %q begins with ~, which queries use for the inverse of a relation", relation), remedy.Do("rename the relation")
}

// Check returns what is wrong with the names of a fact that does not come from a line, such as a row of a
// table, or "".
func Check(head, relation, tail string) (reason string, help remedy.Help) {
	for i, name := range [...]string{head, relation, tail} {
		if reason, help := CheckName([...]string{"the head", "the relation", "the tail"}[i], name); reason != "" {
			return reason, help
		}
	}
	if relation[0] == '~' {
		return inverseName([]byte(relation))
	}
	return "", remedy.Help{}
}

// CheckName returns why a name is refused, or "". The reason calls the name by the words of what.
func CheckName(what, name string) (reason string, help remedy.Help) {
	switch {
	case name == "":
		return what + " is empty", remedy.Do("give it a name")
	case len(name) > MaxName:
		return tooLongName(what, len(name))
	case strings.ContainsAny(name, "\t\n\r\x00"):
		return what + " has a tab, a line break or NUL", remedy.Do("remove it: a name is one line of text")
	case !utf8.ValidString(name):
		return what + " is not valid UTF-8", remedy.Do("save the file as UTF-8 text")
	}
	return "", remedy.Help{}
}

func tooLongName(what string, length int) (reason string, help remedy.Help) {
	return fmt.Sprintf("%s has %d bytes, the limit for a name is %d", what, length, MaxName), remedy.Do("shorten it, or check for missing tabs and line ends")
}

// readNumbered reads a text like readChunk whose lines have a fourth field: the fact's line in a file of another
// format, from which this program wrote the text. each gets that number instead of the line in the text.
func readNumbered(name string, first int, r io.Reader, each func(line int, t Triple) error) error {
	const fields = "head, relation, tail and line"
	return chunkLines{name: name, fields: fields, first: first, text: r, bad: func(b BadLine) error { return b }}.read(func(number int, line []byte) error {
		var cut [4]int
		reason, help := splitFields(line, cut[:], fields)
		original := 0
		if reason == "" {
			var err error
			if original, err = strconv.Atoi(string(line[cut[2]+1:])); err != nil {
				reason, help = "its fourth field is not a number", remedy.Do("run again")
			}
		}
		if reason != "" {
			return BadLine{File: name, Line: number, Reason: reason, Remedy: help, Text: Shown(line)}
		}
		return each(original, Triple{Head: line[:cut[0]], Relation: line[cut[0]+1 : cut[1]], Tail: line[cut[1]+1 : cut[2]]})
	})
}

// WriteNumbered writes a line that readNumbered reads.
func WriteNumbered(w *bufio.Writer, t Triple, number int) error {
	for _, name := range [][]byte{t.Head, t.Relation, t.Tail} {
		w.Write(name)
		w.WriteByte('\t')
	}
	w.WriteString(strconv.Itoa(number))
	return w.WriteByte('\n')
}

// splitFields sets the ends of a line's len(ends) fields, or returns why the line is refused.
func splitFields(line []byte, ends []int, fields string) (reason string, help remedy.Help) {
	if reason, help = checkText(line); reason != "" {
		return reason, help
	}
	// ends gets the offset behind each field, as far as there is room; all fields are counted.
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
		return WrongCount(line, found, len(ends), fields)
	}
	// Every field needs a name, and none may be too long.
	start := 0
	for i, end := range ends {
		if end == start {
			return fmt.Sprintf("field %d of %d is empty", i+1, len(ends)), remedy.Do("give %s a name each", fields)
		}
		if end-start > MaxName {
			return tooLongName(fmt.Sprintf("field %d of %d", i+1, len(ends)), end-start)
		}
		start = end + 1
	}
	return "", remedy.Help{}
}

// WrongCount returns the error of a line of found instead of want fields, which it calls by the words of fields. The
// most common mistakes, spaces and commas instead of tabs, have a reason of their own. A line that has a tab does not
// make them: its spaces and commas are part of names.
func WrongCount(line []byte, found, want int, fields string) (reason string, help remedy.Help) {
	help = remedy.Do("separate %s by single tabs", fields)
	if want == 2 {
		help = remedy.Do("separate %s by a tab", fields)
	}
	switch {
	case len(bytes.TrimSpace(line)) == 0 && found == 1:
		return "blank line", remedy.Do("remove it")
	case found == 1 && bytes.Count(line, []byte(",")) >= want-1:
		return "commas where tabs belong", help
	case found == 1 && bytes.ContainsRune(line, ' '):
		return "spaces where tabs belong", help
	}
	plural := "s"
	if found == 1 {
		plural = ""
	}
	return fmt.Sprintf("%d field%s instead of %d", found, plural, want), help
}
