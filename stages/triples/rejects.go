package triples

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/triples"
)

// Rejects is a file of lines of rejects.tsv, those of one part of a text, and an element of
// pipelines.
type Rejects struct {
	// URL is where they lie.
	URL string
	// Text and Line say of which part they are: the text's URL and the part's first line less 1.
	Text string
	Line int64
	// Lines is how many there are.
	Lines int64
}

// RejectsWriter keeps the lines of a part that are no facts. Without any it writes no file.
type RejectsWriter struct {
	rejects Rejects
	out     storage.Writer
	text    *bufio.Writer
}

// NewRejectsWriter writes the rejects of a part to a URL.
func NewRejectsWriter(url string, part File) *RejectsWriter {
	return &RejectsWriter{rejects: Rejects{URL: url, Text: part.URL, Line: part.Line}}
}

// Write appends a line that is no fact.
func (w *RejectsWriter) Write(ctx context.Context, b triples.BadLine) error {
	if w.out == nil {
		var err error
		if w.out, err = storage.Create(ctx, w.rejects.URL); err != nil {
			return err
		}
		w.text = bufio.NewWriterSize(w.out, 1<<16)
	}
	w.rejects.Lines++
	_, err := fmt.Fprintf(w.text, "%s\t%d\t%s\t%s\n", oneField(b.File), b.Line, oneField(b.Reason), oneField(b.Text))
	return err
}

// Commit ends the file. It tells what was rejected, and whether anything was.
func (w *RejectsWriter) Commit() (r Rejects, any bool, err error) {
	if w.out == nil {
		return w.rejects, false, nil
	}
	if err := w.text.Flush(); err != nil {
		return w.rejects, false, err
	}
	return w.rejects, true, w.out.Commit()
}

// Abort drops the file; after Commit it does nothing.
func (w *RejectsWriter) Abort() {
	if w.out != nil {
		w.out.Abort()
	}
}

// JoinRejects writes rejects.tsv: a heading, and the rejected lines in the order of texts and
// lines. It returns how many there are.
func JoinRejects(ctx context.Context, url string, rejects []Rejects) (lines int64, err error) {
	slices.SortFunc(rejects, func(a, b Rejects) int {
		return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Line, b.Line))
	})
	out, err := storage.Create(ctx, url)
	if err != nil {
		return 0, err
	}
	defer out.Abort()
	if _, err := io.WriteString(out, "file\tline\treason\ttext\n"); err != nil {
		return 0, err
	}
	for _, r := range rejects {
		if err := join(ctx, out, r); err != nil {
			return 0, err
		}
		lines += r.Lines
	}
	return lines, out.Commit()
}

// join appends one file.
func join(ctx context.Context, out io.Writer, r Rejects) error {
	file, err := storage.Open(ctx, r.URL)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, file)
	return errors.Join(err, file.Close())
}

// oneField writes what would break a line of tab-separated text, or is no text, as \t, \xff and the like.
func oneField(text string) string {
	quoted := fmt.Sprintf("%+q", text)
	if plain := fmt.Sprintf("%q", text); strings.ToValidUTF8(text, "") == text {
		quoted = plain
	}
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
