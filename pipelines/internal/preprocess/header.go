package preprocess

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tagnet/formats/input/facts"
	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
)

// checkHeaders returns an error for a file of training facts whose first line would become a fact and looks like a line
// of column names: its words occur in no other line. Package facts finds the usual names of columns. First lines of
// other files do not count, as these may be headers too, but the files of one folder are alike: a header of one is the
// header of all. The files of --inference may be written otherwise, and say nothing. Of a line that recurs, which may
// be a fact that is stated twice, it is only a warning.
func (f *flags) checkHeaders(ctx context.Context, d *dataset) error {
	if f.header != auto {
		return nil
	}
	var texts []text
	for _, t := range d.files {
		if !t.options.Header && isTable(t.options.Format) && (t.graph == triples.Training || d.listed()) {
			t.options.Entities, t.options.Relations = nil, nil // they count the ids without a name
			texts = append(texts, t)
		}
	}
	for i, t := range texts {
		if t.split != "train" {
			continue
		}
		is, again, err := isHeader(ctx, slices.Concat(texts[i:], texts[:i]), !d.listed())
		if err != nil {
			return err
		}
		if is && again > 0 {
			d.divisions = append(d.divisions, fmt.Sprintf("warning: the first line of %s stands again in line %d, and its words in no other line: "+
				"if it is a heading, --header yes leaves both out", t.name, again))
			continue
		}
		if is {
			help := facts.HeaderRemedy
			if d.listed() {
				help = remedy.Do("%v; where only some files have one, remove it there", help)
			}
			return remedy.Errorf(help, "%s:%d: the line looks like a header, since its words occur in no other line", t.url, t.first)
		}
	}
	return nil
}

// isHeader reports whether no word of the first line of the first text occurs in another line of some texts, of
// which there is one, and, where the texts are alike, whether all have that first line. It reads up to what
// shows that it is none. again is the last other line that is equal to it, or 0.
func isHeader(ctx context.Context, texts []text, alike bool) (is bool, again int, err error) {
	var first facts.Fact
	lines, found := 0, false
	for i, t := range texts {
		err := readSome(ctx, t, func(line int, f facts.Fact) error {
			switch {
			case line == t.first && i == 0:
				first = f
			case line == t.first:
				found = found || alike && f != first
			case f == first:
				again = line
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
			return false, 0, err
		}
	}
	return lines > 0, again, nil
}

// errEnough ends the reading of a file whose other facts are not needed.
var errEnough = errors.New("no other facts are needed")

// readSome calls each for the facts of a file until it returns errEnough, which is no error. Bad lines are found by
// those who read all lines.
func readSome(ctx context.Context, t text, each facts.Each) error {
	_, err := facts.Read(ctx, t.url, t.options, each, func(triples.BadLine) error { return nil })
	if errors.Is(err, errEnough) || errors.Is(err, triples.ErrEmpty) { // the conversion says which files are empty
		return nil
	}
	return err
}
