package preprocess

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tagnet/formats/input/facts"
	"tagnet/formats/input/triples"
)

// headerCheck finds a line of column names that would become a fact: the first line of every file, whose words occur in
// no other line. Package facts finds the usual names of columns.
type headerCheck struct {
	first facts.Fact
	url   string
	lines int
	// listed says that the first line of one file of a list is checked alone, without the first lines of the others.
	listed bool
	// fact reports that the first line is none: a word of it stands in another line, or another file begins otherwise.
	fact bool
}

// add adds a line of a file. All files are added in turn.
func (h *headerCheck) add(url string, line int, f facts.Fact) {
	if line == 1 {
		if h.url == "" {
			h.first, h.url = f, url
		} else if h.first != f && !h.listed {
			h.fact = true
		}
		return
	}
	h.lines++
	if !h.fact {
		for _, name := range [...]string{f.Head, f.Relation, f.Tail} {
			h.fact = h.fact || name == h.first.Head || name == h.first.Relation || name == h.first.Tail
		}
	}
}

// suspicious returns an error if the first line is a header.
func (h *headerCheck) suspicious() error {
	if h.url == "" || h.fact || h.lines == 0 {
		return nil
	}
	remedy := facts.HeaderRemedy
	if h.listed {
		remedy += "; where only some files have one, remove it there"
	}
	return fmt.Errorf("%s:1: the line looks like a header, since its words occur in no other line; %s", h.url, remedy)
}

// checkHeaders checks the files that are read where they are. It reads more of them than the first lines only if these
// are all the same.
func (f *flags) checkHeaders(ctx context.Context, d dataset) error {
	if f.header != auto {
		return nil
	}
	if d.listed() {
		return checkList(ctx, d.files)
	}
	var check headerCheck
	var texts []text
	files := 0
	// The first line of each file.
	for _, t := range d.files {
		if t.graph != triples.Training {
			continue
		}
		if files++; t.convert {
			continue
		}
		err := readSome(ctx, t, func(line int, fact facts.Fact) error {
			check.add(t.url, line, fact)
			return errEnough
		})
		if err != nil {
			return err
		}
		texts = append(texts, t)
	}
	// One that is a fact clears all files: they are written alike.
	if check.fact || len(texts) == 1 && files > 1 {
		return nil
	}
	for _, t := range texts {
		if err := check.addFile(ctx, t); err != nil {
			return err
		}
	}
	return check.suspicious()
}

// checkList compares the first line of each file with the other lines of all, its own first.
func checkList(ctx context.Context, files []text) error {
	var texts []text
	for _, t := range files {
		if t.mayHaveHeader() {
			t.options.Entities, t.options.Relations = nil, nil // they count the ids without a name
			texts = append(texts, t)
		}
	}
	for i := range texts {
		check := headerCheck{listed: true}
		for _, t := range slices.Concat(texts[i:], texts[:i]) {
			if check.fact {
				break
			}
			if err := check.addFile(ctx, t); err != nil {
				return err
			}
		}
		if err := check.suspicious(); err != nil {
			return err
		}
	}
	return nil
}

// checkConverted returns the error of a header in the converted files. If there seems to be one, it looks for its words
// in the others, too.
func checkConverted(ctx context.Context, check *headerCheck, files []text) error {
	for _, t := range files {
		if t.convert || check.suspicious() == nil {
			continue
		}
		if err := check.addFile(ctx, t); err != nil {
			return err
		}
	}
	return check.suspicious()
}

// addFile adds the lines of a file up to one that shows that the first line is a fact.
func (h *headerCheck) addFile(ctx context.Context, t text) error {
	return readSome(ctx, t, func(line int, fact facts.Fact) error {
		if h.add(t.url, line, fact); h.fact {
			return errEnough
		}
		return nil
	})
}

// errEnough ends the reading of a file whose other facts are not needed.
var errEnough = errors.New("no other facts are needed")

// readSome calls each for the facts of a file until it returns errEnough, which is no error. Bad lines are found by
// those who read all lines.
func readSome(ctx context.Context, t text, each facts.Each) error {
	_, err := facts.Read(ctx, t.url, t.options, each, func(triples.BadLine) error { return nil })
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}
