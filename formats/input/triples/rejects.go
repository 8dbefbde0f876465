package triples

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"tagnet/formats/remedy"
	"tagnet/formats/storage"
)

// Rejects is a file of the lines that a step rejected in one chunk of a text, in order, as lines of
// rejects.tsv. It is an element of pipelines.
type Rejects struct {
	// URL is the file.
	URL string
	// Text is the URL of the text, Line the number of lines before the chunk.
	Text string
	Line int64
	// Lines is their number.
	Lines int64
}

// RejectsWriter writes the rejected lines of a chunk. It creates the file with the first one.
type RejectsWriter struct {
	rejects Rejects
	out     storage.Writer
	text    *bufio.Writer
}

// Refuse returns the error of a line that is not to be rejected, with the flag that would reject it.
func Refuse(b BadLine) error {
	b.Remedy = remedy.Do("%v, or skip such lines with %v", b.Remedy, remedy.Flag("on_bad_line", "reject"))
	return b
}

// NewRejectsWriter returns a writer of the rejects of a chunk to a URL.
func NewRejectsWriter(url string, chunk Chunk) *RejectsWriter {
	r := Rejects{URL: url, Text: chunk.File(), Line: chunk.Line}
	if chunk.Original != "" {
		r.Line = 0 // that many lines of the text stand before it, not of the original: all its rejects are merged
	}
	return &RejectsWriter{rejects: r}
}

// Write appends a rejected line. Lines come in the order of the text.
func (w *RejectsWriter) Write(ctx context.Context, b BadLine) error {
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

// Commit completes the file, and reports whether anything was rejected.
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

// oneField escapes what would break a line of tab-separated text or is not UTF-8, as \t, \xff and so on.
func oneField(text string) string {
	quoted := fmt.Sprintf("%+q", text)
	if plain := fmt.Sprintf("%q", text); strings.ToValidUTF8(text, "") == text {
		quoted = plain
	}
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
