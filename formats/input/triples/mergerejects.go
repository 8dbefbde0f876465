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

// MergeRejects writes rejects.tsv: a heading, and the rejected lines in the order of texts and lines,
// whatever the order of rejects. It returns the number of lines. It streams the lines, and has the
// files of one chunk open at a time.
func MergeRejects(ctx context.Context, url string, rejects []Rejects) (lines int64, err error) {
	rejects = slices.SortedFunc(slices.Values(rejects), compareChunks)
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
		same := 0
		for same < len(rejects) && compareChunks(rejects[same], rejects[0]) == 0 {
			lines += rejects[same].Lines
			same++
		}
		if err := mergeChunk(ctx, text, rejects[:same]); err != nil {
			return 0, err
		}
		rejects = rejects[same:]
	}
	if err := text.Flush(); err != nil {
		return 0, err
	}
	return lines, out.Commit()
}

// compareChunks orders rejects by text and chunk.
func compareChunks(a, b Rejects) int {
	return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Line, b.Line))
}

// mergeChunk merges the files of one chunk by line number. There are several if more than one step
// rejected lines of it, or if two graphs are read from the same text.
func mergeChunk(ctx context.Context, out *bufio.Writer, rejects []Rejects) (err error) {
	var files []*rejectedLines
	defer func() {
		for _, f := range files {
			err = errors.Join(err, f.file.Close())
		}
	}()
	// Each file is open at its first line.
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
	// The file with the lowest line is next. There are few files.
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

// rejectedLines reads a file of rejects line by line. It holds the name of the text and the number of
// the line, and as much of the rest as its buffer.
type rejectedLines struct {
	url  string
	file io.ReadCloser
	text *bufio.Reader
	name string // of the text, with a tab at its end
	line uint64 // number of the line that copy writes, or ended
}

// ended sorts after every line number.
const ended = ^uint64(0)

// next moves to the next line and reads its number.
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

// copy writes the current line.
func (f *rejectedLines) copy(out *bufio.Writer) error {
	if _, err := fmt.Fprintf(out, "%s%d\t", f.name, f.line); err != nil {
		return err
	}
	for {
		bytes, err := f.text.ReadSlice('\n')
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return f.wrap(err)
		}
		if _, failed := out.Write(bytes); failed != nil || err == nil {
			return failed
		}
	}
}

// wrap adds the file's name to an error. The end of the file within a line is an error, too.
func (f *rejectedLines) wrap(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", f.url, err)
	}
	return nil
}
