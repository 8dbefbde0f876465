package triples

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// MaxLine is the length of the longest accepted line, in bytes without its end.
const MaxLine = 1 << 20

// shownOfLong is the number of bytes of an overlong line that a BadLine keeps.
const shownOfLong = 200

// readLines calls each for every line without its end, in a buffer that the next line overwrites, and
// bad for overlong lines. first is the number of the first line: 1 at the beginning of a text, more in
// a later chunk.
func readLines(name, fields string, first int, r io.Reader, each func(number int, line []byte) error, bad func(BadLine) error) error {
	text := bufio.NewReaderSize(r, MaxLine+len("\r\n"))
	if first == 1 {
		var err error
		if text, err = begin(name, text); err != nil {
			return err
		}
	}
	for number := first; ; number++ {
		line, err := text.ReadSlice('\n')
		if len(line) == 0 && errors.Is(err, io.EOF) {
			if number == 1 {
				return fmt.Errorf("%s: %w; it needs lines of %s, separated by tabs", name, ErrEmpty, fields)
			}
			return nil
		}
		switch {
		case err == nil || errors.Is(err, io.EOF):
			line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
			if len(line) > MaxLine {
				err = bad(tooLong(name, number, line))
			} else {
				err = each(number, line)
			}
			if err != nil {
				return err
			}
		case errors.Is(err, bufio.ErrBufferFull):
			long := tooLong(name, number, line)
			if err := skipLine(text); err != nil {
				return readError(name, err)
			}
			if err := bad(long); err != nil {
				return err
			}
		default:
			return readError(name, err)
		}
	}
}

// begin unpacks gzip, which it recognizes by the first two bytes, and skips a byte-order mark.
func begin(name string, text *bufio.Reader) (*bufio.Reader, error) {
	text, err := plain(name, text)
	if err != nil {
		return nil, err
	}
	if mark, _ := text.Peek(3); string(mark) == "\xef\xbb\xbf" {
		text.Discard(3)
	}
	return text, nil
}

func plain(name string, text *bufio.Reader) (*bufio.Reader, error) {
	magic, err := text.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, readError(name, err)
	}
	if string(magic) != "\x1f\x8b" {
		return text, nil
	}
	unpacked, err := gzip.NewReader(text)
	if err != nil {
		return nil, readError(name, gzipError(err))
	}
	return bufio.NewReaderSize(gzipReader{unpacked}, MaxLine+len("\r\n")), nil
}

// gzipReader returns an error, not io.EOF, if the packed data end too early.
type gzipReader struct{ r io.Reader }

func (g gzipReader) Read(p []byte) (int, error) {
	n, err := g.r.Read(p)
	if err != nil && err != io.EOF {
		err = gzipError(err)
	}
	return n, err
}

var errGzip = errors.New("make or fetch it again")

// gzipError returns the error of a file that is cut short or damaged. It is never io.EOF.
func gzipError(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("the gzip file is cut short; %w", errGzip)
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return fmt.Errorf("the gzip file is damaged (%v); %w", err, errGzip)
	}
	return fmt.Errorf("unpacking gzip: %w", err)
}

func readError(name string, err error) error { return fmt.Errorf("reading %s: %w", name, err) }

func tooLong(name string, number int, line []byte) BadLine {
	return BadLine{
		File: name, Line: number,
		Reason: fmt.Sprintf("line longer than %d bytes", MaxLine), Remedy: "shorten its names, or check for missing line ends",
		Text: string(line[:shownOfLong]),
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
func checkText(line []byte) (reason, remedy string) {
	if i := bytes.IndexByte(line, 0); i >= 0 {
		return fmt.Sprintf("NUL at byte %d", i+1), "save the file as UTF-8 text (UTF-16 looks like this)"
	}
	if !utf8.Valid(line) {
		return fmt.Sprintf("invalid UTF-8 at byte %d", invalidAt(line)+1), "save the file as UTF-8 text"
	}
	if i := bytes.IndexByte(line, '\r'); i >= 0 {
		return fmt.Sprintf("carriage return at byte %d", i+1), "end lines with LF or CRLF only"
	}
	return "", ""
}

func invalidAt(line []byte) int {
	at := 0
	for at < len(line) {
		r, size := utf8.DecodeRune(line[at:])
		if r == utf8.RuneError && size <= 1 {
			break
		}
		at += size
	}
	return at
}
