package triples

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/triples"
)

// Rejects is a file of lines of rejects.tsv, those that a step found in one part of a text, in
// their order, and an element of pipelines.
type Rejects struct {
	// URL is where they lie.
	URL string
	// Text and Line say of which part they are: the text's URL and the part's first line less 1.
	Text string
	Line int64
	// Lines is how many there are.
	Lines int64
}

// RejectsWriter keeps the lines of a part that are rejected. Without any it writes no file.
type RejectsWriter struct {
	rejects Rejects
	out     storage.Writer
	text    *bufio.Writer
}

// NewRejectsWriter writes the rejects of a part to a URL.
func NewRejectsWriter(url string, part File) *RejectsWriter {
	return &RejectsWriter{rejects: Rejects{URL: url, Text: part.URL, Line: part.Line}}
}

// Write appends a rejected line, which comes after those before it in the text.
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

// oneField writes what would break a line of tab-separated text, or is no text, as \t, \xff and the like.
func oneField(text string) string {
	quoted := fmt.Sprintf("%+q", text)
	if plain := fmt.Sprintf("%q", text); strings.ToValidUTF8(text, "") == text {
		quoted = plain
	}
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
