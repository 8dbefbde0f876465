package preprocess

import (
	"context"
	"errors"
	"slices"

	"tagnet/formats/input/facts"
	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
)

// checkHeaders returns an error for a file of training facts whose first line would become a fact and looks like a line
// of column names: its words occur in no other line. Package facts finds the usual names of columns. First lines of
// other files do not count, as these may be headers too, but the files of one folder are alike: a header of one is the
// header of all. The files of --inference may be written otherwise, and say nothing.
func (f *flags) checkHeaders(ctx context.Context, d dataset) error {
	if f.header != auto {
		return nil
	}
	var texts []text
	for _, t := range d.files {
		if t.mayHaveHeader() && (t.graph == triples.Training || d.listed()) {
			t.options.Entities, t.options.Relations = nil, nil // they count the ids without a name
			texts = append(texts, t)
		}
	}
	for i, t := range texts {
		if t.split != "train" {
			continue
		}
		is, err := isHeader(ctx, slices.Concat(texts[i:], texts[:i]), !d.listed())
		if err != nil {
			return err
		}
		if is {
			help := facts.HeaderRemedy
			if d.listed() {
				help = remedy.Do("%v; where only some files have one, remove it there", help)
			}
			return remedy.Errorf(help, "%s:1: the line looks like a header, since its words occur in no other line", t.url)
		}
	}
	return nil
}

// isHeader reports whether no word of the first line of the first text occurs in another line of some texts, of
// which there is one, and, where the texts are alike, whether all have that first line. It reads up to what
// shows that it is none.
func isHeader(ctx context.Context, texts []text, alike bool) (bool, error) {
	var first facts.Fact
	lines, found := 0, false
	for i, t := range texts {
		err := readSome(ctx, t, func(line int, f facts.Fact) error {
			switch {
			case line == 1 && i == 0:
				first = f
			case line == 1:
				found = found || alike && f != first
			default:
				lines++
				for _, name := range [...]string{f.Head, f.Relation, f.Tail} {
					found = found || name == first.Head || name == first.Relation || name == first.Tail
				}
			}
			if found || first == (facts.Fact{}) { // the first line is none that became a fact
				return errEnough
			}
			return nil
		})
		if err != nil || found || first == (facts.Fact{}) {
			return false, err
		}
	}
	return lines > 0, nil
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
