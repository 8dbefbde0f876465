package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"tagnet/formats/storage"
)

// split is an output file and its number of facts.
type split struct {
	name  string
	facts int64
}

// write writes the three files. They appear when all of them are complete, train.txt last.
func write(ctx context.Context, g *generator, o options, diagnostics io.Writer) error {
	splits := []split{{"train", o.facts}, {"valid", o.valid}, {"test", o.test}}
	if err := free(ctx, o.out, "train", "valid", "test"); err != nil {
		return err
	}
	w := writer{g: g, seen: make([]bool, o.relations), begun: time.Now(), diagnostics: diagnostics}
	files := make([]storage.Writer, len(splits))
	for i, s := range splits {
		file, err := storage.Create(ctx, storage.Join(o.out, s.name+".txt"))
		if err != nil {
			return err
		}
		defer file.Abort()
		files[i] = file
		if err := w.split(ctx, file, s); err != nil {
			return err
		}
	}
	for i := range files {
		if err := files[len(files)-1-i].Commit(); err != nil {
			return err
		}
	}
	return nil
}

// free returns an error if a text file of a folder exists.
func free(ctx context.Context, folder string, names ...string) error {
	for _, name := range names {
		url := storage.Join(folder, name+".txt")
		exists, err := storage.Exists(ctx, url)
		if err != nil {
			return err
		}
		if exists {
			return fmt.Errorf("%s already exists: remove it, or choose another --out", url)
		}
	}
	return nil
}

// writer turns facts into lines, in the order of the generator.
type writer struct {
	g               *generator
	next            int64
	seen            []bool // relations of train.txt
	begun, reported time.Time
	diagnostics     io.Writer
}

// reportInterval is the time between two lines of progress.
const reportInterval = 5 * time.Second

// split writes one file.
func (w *writer) split(ctx context.Context, file io.Writer, s split) error {
	text := bufio.NewWriterSize(file, 1<<20)
	line := make([]byte, 0, 64)
	for range s.facts {
		if w.next%(1<<16) == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			w.report()
		}
		f := w.g.at(w.next)
		w.next++
		if s.name == "train" {
			w.seen[f.relation] = true
		} else if !w.seen[f.relation] {
			return fmt.Errorf("--relations is %d: too many for %d facts, relation r%d of %s.txt is in no training fact; want fewer relations or more facts", len(w.seen), w.g.facts, f.relation, s.name)
		}
		line = strconv.AppendInt(append(line[:0], 'e'), f.head, 10)
		line = strconv.AppendInt(append(line, "\tr"...), f.relation, 10)
		line = strconv.AppendInt(append(line, "\te"...), f.tail, 10)
		if _, err := text.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return text.Flush()
}

// report prints the progress and the time left.
func (w *writer) report() {
	now := time.Now()
	if w.reported.IsZero() {
		w.reported = w.begun
	}
	if now.Sub(w.reported) < reportInterval {
		return
	}
	w.reported = now
	took := now.Sub(w.begun)
	left := time.Duration(float64(took) * float64(w.g.facts-w.next) / float64(w.next))
	fmt.Fprintf(w.diagnostics, "generate %3.0f%%  %d of %d facts  %.0f/s  %s left\n",
		100*float64(w.next)/float64(w.g.facts), w.next, w.g.facts, float64(w.next)/took.Seconds(), left.Round(time.Second))
}
