package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"

	"tagnet/formats/storage"
	"tagnet/infra/internal/program"
	"tagnet/model/graph/synthetic"
)

// file is a text file of the output, without .txt, and what writes its content.
type file struct {
	name  string
	write func(io.Writer) error
}

// text is a file with a content that is known.
func text(name, content string) file {
	return file{name, func(w io.Writer) error { _, err := io.WriteString(w, content); return err }}
}

// writeFiles writes files, none of which may exist. They appear when all of them are complete, the first one last.
func writeFiles(ctx context.Context, folder string, files ...file) error {
	var writers []storage.Writer
	for _, f := range files {
		url := storage.Join(folder, f.name+".txt")
		if exists, err := storage.Exists(ctx, url); err != nil {
			return err
		} else if exists {
			return fmt.Errorf("%s already exists: remove it, or choose another --out", url)
		}
	}
	for _, f := range files {
		w, err := storage.Create(ctx, storage.Join(folder, f.name+".txt"))
		if err != nil {
			return err
		}
		defer w.Abort()
		if err := f.write(w); err != nil {
			return err
		}
		writers = append(writers, w)
	}
	for i := range writers {
		if err := writers[len(writers)-1-i].Commit(); err != nil {
			return err
		}
	}
	return nil
}

// tooFew is the error of a graph of which nothing would be held out.
func (o options) tooFew() error {
	return program.Usage("--facts is %d: too few for --kind %s, nothing would be left for valid.txt or test.txt; want more", o.facts, o.kind)
}

// writePowerLaw makes a graph whose degrees follow a power law, a fact at a time.
func writePowerLaw(ctx context.Context, o options, out io.Writer) error {
	w := writer{law: synthetic.NewPowerLaw(o.entities, o.relations, o.exponent, o.seed), trained: make([]bool, o.relations)}
	split := func(name string, facts int64) file {
		return file{name, func(to io.Writer) error { return w.split(ctx, to, name, facts) }}
	}
	if err := writeFiles(ctx, o.out, split("train", o.facts), split("valid", o.valid), split("test", o.test)); err != nil {
		return err
	}
	fmt.Fprintf(out, "wrote %s: %d, %d and %d facts about up to %d entities\n", o.out, o.facts, o.valid, o.test, o.entities)
	return nil
}

// writer turns facts into lines, in the order in which they are drawn.
type writer struct {
	law     *synthetic.PowerLaw
	trained []bool // relations of train.txt
}

// split writes the next facts as those of a split. Those of valid and test have relations of train.
func (w *writer) split(ctx context.Context, to io.Writer, name string, facts int64) error {
	buffer := bufio.NewWriterSize(to, 1<<20)
	line := make([]byte, 0, 64)
	for i := range facts {
		if i%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		f := w.law.Next()
		if name == "train" {
			w.trained[f.Relation] = true
		}
		for !w.trained[f.Relation] {
			f = w.law.Next()
		}
		line = strconv.AppendInt(append(line[:0], 'e'), int64(f.Head), 10)
		line = strconv.AppendInt(append(line, "\tr"...), int64(f.Relation), 10)
		line = strconv.AppendInt(append(line, "\te"...), int64(f.Tail), 10)
		if _, err := buffer.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return buffer.Flush()
}
