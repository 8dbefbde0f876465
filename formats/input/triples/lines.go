package triples

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"tagnet/formats/remedy"
)

// MaxLine is the length of the longest accepted line, in bytes without its end. Names take little of a long one: most
// is text that is not read, such as a literal or another column.
const MaxLine = 64 << 20

// bufferBytes is how much of a text is read at a time. Most lines fit in.
const bufferBytes = 1 << 20

// MaxName is the length of the longest accepted name in bytes. Names are held in memory, searched and shown on
// pages, so that a text which became a name by mistake is refused here.
const MaxName = 4096

// shownOfLong is the number of bytes of a long line that a BadLine keeps.
const shownOfLong = 200

// Shown returns the text of a bad line: the line, or the beginning and the length of a long one.
func Shown(line []byte) string {
	if len(line) <= shownOfLong {
		return string(line)
	}
	end := shownOfLong
	for end > shownOfLong-utf8.UTFMax && !utf8.RuneStart(line[end]) {
		end--
	}
	return fmt.Sprintf("%s... (%d bytes)", line[:end], len(line))
}

// ReadLines calls each for every line of a text, without its end, that is valid UTF-8 and has neither NUL nor a
// carriage return, in a buffer that the next line overwrites; it calls bad for the others. It stops at the first
// error that one of them returns. Blank lines at the end are skipped. fields says, in the error of a text without other
// lines, what a line has. Compressed texts are unpacked.
func ReadLines(name, fields string, r io.Reader, each func(number int, line []byte) error, bad func(BadLine) error) error {
	return chunkLines{name: name, fields: fields, first: 1, text: r, bad: bad}.read(func(number int, line []byte) error {
		if reason, help := checkText(line); reason != "" {
			return bad(BadLine{File: name, Line: number, Reason: reason, Remedy: help, Text: Shown(line)})
		}
		return each(number, line)
	})
}

// chunkLines are the lines of a text, or of a chunk of it.
type chunkLines struct {
	name   string
	fields string // what a line has
	first  int    // the number of the first line: 1 at the beginning of a text, more in a later chunk
	text   io.Reader
	after  io.Reader           // what follows a chunk of the text, or nil
	bad    func(BadLine) error // is called for overlong lines
}

// read calls each for every line without its end, in a buffer that the next line overwrites. Blank lines at the end of
// the text are skipped.
func (c chunkLines) read(each func(number int, line []byte) error) error {
	next, blank, empty := c.first, 0, c.first == 1 // blank lines are held back until another follows
	release := func() error {
		for empty = false; blank > 0; blank-- {
			if err := each(next-blank, nil); err != nil {
				return err
			}
		}
		return nil
	}
	// A line that is not blank, or is bad, releases the blank ones before it.
	err := eachLine(c.name, c.first, c.text, func(number int, line []byte) error {
		if next = number; len(line) == 0 {
			blank++
			next++
			return nil
		}
		if err := release(); err != nil {
			return err
		}
		return each(number, line)
	}, func(b BadLine) error {
		next = b.Line
		if err := release(); err != nil {
			return err
		}
		return c.bad(b)
	})
	// Blank lines at the end of a chunk count if the text continues.
	if err == nil && blank > 0 && c.after != nil {
		var more bool
		if more, err = hasLine(c.after); err != nil {
			return readError(c.name, err)
		} else if more {
			return release()
		}
	}
	if err == nil && empty {
		return EmptyError(c.name, c.fields)
	}
	return err
}

// eachLine calls each and bad like chunkLines.read, but for blank lines at the end, too.
func eachLine(name string, first int, r io.Reader, each func(number int, line []byte) error, bad func(BadLine) error) error {
	text := bufio.NewReaderSize(r, bufferBytes)
	if first == 1 {
		var err error
		if text, err = begin(name, text); err != nil {
			return err
		}
	}
	var long []byte // a line that the buffer does not hold
	for number := first; ; number++ {
		line, err := text.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long[:0], line...)
			for errors.Is(err, bufio.ErrBufferFull) && len(long) <= MaxLine {
				line, err = text.ReadSlice('\n')
				long = append(long, line...)
			}
			line = long
		}
		full := errors.Is(err, bufio.ErrBufferFull)
		if full {
			err = skipLine(text)
		}
		switch {
		case err != nil && !errors.Is(err, io.EOF):
			return readError(name, err)
		case len(line) == 0:
			return nil
		}
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
		if full || len(line) > MaxLine {
			err = bad(tooLong(name, number, line))
		} else {
			err = each(number, line)
		}
		if err != nil {
			return err
		}
	}
}

func hasLine(text io.Reader) (bool, error) {
	buffer := make([]byte, 1<<12)
	for {
		n, err := text.Read(buffer)
		if len(bytes.Trim(buffer[:n], "\r\n")) > 0 {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// begin unpacks a compressed text, which it recognizes by its first bytes, and skips a byte-order mark. A kind of file
// that is not read is an error.
func begin(name string, text *bufio.Reader) (*bufio.Reader, error) {
	text, err := plain(name, text)
	if err != nil {
		return nil, err
	}
	start, _ := text.Peek(1 << 9)
	if err := checkForeign(name, start); err != nil {
		return nil, err
	}
	if mark, _ := text.Peek(3); string(mark) == "\xef\xbb\xbf" {
		text.Discard(3)
	} else if utf16 := string(mark[:min(2, len(mark))]); utf16 == "\xff\xfe" || utf16 == "\xfe\xff" {
		return nil, fmt.Errorf("%s:1: the file is UTF-16 text; save it as UTF-8", name)
	}
	return text, nil
}

func readError(name string, err error) error { return fmt.Errorf("reading %s: %w", name, err) }

func tooLong(name string, number int, line []byte) BadLine {
	return BadLine{
		File: name, Line: number,
		Reason: fmt.Sprintf("line longer than %d bytes", MaxLine), Remedy: remedy.Do("shorten its names, or check for missing line ends"),
		Text: string(line[:shownOfLong]) + "... (the rest was not kept)",
	}
}

// skipLine reads up to the next line.
func skipLine(text *bufio.Reader) error {
	for {
		_, err := text.ReadSlice('\n')
		if err == nil || errors.Is(err, io.EOF) {
			return nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// checkText returns why a line is not valid text, or "": it has NUL, invalid UTF-8 or a carriage return.
func checkText(line []byte) (reason string, help remedy.Help) {
	if i := bytes.IndexByte(line, 0); i >= 0 {
		return fmt.Sprintf("NUL at byte %d", i+1), remedy.Do("save the file as UTF-8 text (UTF-16 looks like this)")
	}
	if !utf8.Valid(line) {
		return fmt.Sprintf("invalid UTF-8 at byte %d", invalidAt(line)+1), remedy.Do("save the file as UTF-8 text")
	}
	if i := bytes.IndexByte(line, '\r'); i >= 0 {
		return fmt.Sprintf("carriage return at byte %d", i+1), remedy.Do("end lines with LF or CRLF only")
	}
	return "", remedy.Help{}
}

// invalidAt returns the offset of the first byte that is not UTF-8, the length if all are.
func invalidAt(line []byte) int {
	for at, r := range string(line) {
		if r == utf8.RuneError && !bytes.HasPrefix(line[at:], []byte("\uFFFD")) {
			return at
		}
	}
	return len(line)
}
