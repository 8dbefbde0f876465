package triples

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/storage"
)

// JoinRejects writes rejects.tsv: a heading, and the rejected lines in the order of texts and
// lines, in whatever order their files are given. It holds no line, and has the files of one part
// open at a time. It returns how many lines there are.
func JoinRejects(ctx context.Context, url string, rejects []Rejects) (lines int64, err error) {
	rejects = slices.SortedFunc(slices.Values(rejects), compareParts)
	out, err := storage.Create(ctx, url)
	if err != nil {
		return 0, err
	}
	defer out.Abort()
	text := bufio.NewWriterSize(out, 1<<16)
	if _, err := text.WriteString("file\tline\treason\ttext\n"); err != nil {
		return 0, err
	}
	for len(rejects) > 0 {
		part := 0
		for part < len(rejects) && compareParts(rejects[part], rejects[0]) == 0 {
			lines += rejects[part].Lines
			part++
		}
		if err := mergeRejects(ctx, text, rejects[:part]); err != nil {
			return 0, err
		}
		rejects = rejects[part:]
	}
	if err := text.Flush(); err != nil {
		return 0, err
	}
	return lines, out.Commit()
}

// compareParts orders the parts of texts.
func compareParts(a, b Rejects) int {
	return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Line, b.Line))
}

// mergeRejects appends the files of one part, line by line in their order. There are several where
// more than one step rejects lines of it, or two graphs are read from the same text: a line that is
// then in two files is the same in both.
func mergeRejects(ctx context.Context, out *bufio.Writer, rejects []Rejects) (err error) {
	var files []*rejectedLines
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.file.Close())
		}
	}()
	for _, r := range rejects {
		file, err := storage.Open(ctx, r.URL)
		if err != nil {
			return err
		}
		f := &rejectedLines{url: r.URL, file: file, text: bufio.NewReaderSize(file, 1<<16)}
		files = append(files, f)
		if err := f.next(); err != nil {
			return err
		}
	}
	for {
		first := slices.MinFunc(files, func(a, b *rejectedLines) int { return cmp.Compare(a.line, b.line) })
		if first.line == ended {
			return nil
		}
		if err := first.copy(out); err != nil {
			return err
		}
		if err := first.next(); err != nil {
			return err
		}
	}
}

// rejectedLines are those of a file, one at a time. It holds the name and the number of a line, and
// as much of the rest as its buffer.
type rejectedLines struct {
	url  string
	file io.ReadCloser
	text *bufio.Reader
	name string // of the text, with the tab behind it
	line uint64 // number of the line that copy writes, or ended
}

// ended is behind every line.
const ended = ^uint64(0)

// next goes to the line that follows, and reads its number.
func (f *rejectedLines) next() error {
	var err error
	f.name, err = f.text.ReadString('\t')
	if errors.Is(err, io.EOF) && f.name == "" {
		f.line = ended
		return nil
	}
	number := ""
	if err == nil {
		number, err = f.text.ReadString('\t')
	}
	if err == nil {
		f.line, err = strconv.ParseUint(strings.TrimSuffix(number, "\t"), 10, 63)
	}
	return f.wrap(err)
}

// copy writes the line.
func (f *rejectedLines) copy(out *bufio.Writer) error {
	if _, err := fmt.Fprintf(out, "%s%d\t", f.name, f.line); err != nil {
		return err
	}
	for {
		piece, err := f.text.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return f.wrap(err)
		}
		if _, failed := out.Write(piece); failed != nil || err == nil {
			return failed
		}
	}
}

// wrap names the file in an error of reading it: its end within a line is one.
func (f *rejectedLines) wrap(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.url, err)
	}
	return nil
}
