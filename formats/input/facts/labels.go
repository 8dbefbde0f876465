package facts

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"tagnet/formats/input/triples"
	"tagnet/formats/remedy"
	"tagnet/formats/storage"
)

// Labels are names that stand for the ids of a file. They are held in memory.
type Labels struct {
	url    string
	names  map[string]string // by id
	labels map[string]bool   // the names
	strict bool
	// Columns are the columns of the table that are read.
	Columns PairColumns
	// Missing counts the ids, as often as they occur, that have no label and remain as they are.
	Missing int64
	// Found reports whether any id of the facts has a label.
	Found bool
}

// URL returns the file of the labels.
func (l *Labels) URL() string { return l.url }

// Name returns the name of an id. An id without one keeps itself as its name, unless every id needs one.
func (l *Labels) Name(id string) (string, bool) {
	if name, ok := l.names[id]; ok {
		l.Found = true
		return name, true
	}
	if l.strict {
		return "", false
	}
	l.Missing++
	return l.withoutLabel(id), true
}

// withoutLabel returns the name of an id that has no label: its text, unless that is the name of an id with a
// label. X becomes X (X) then, and as that may be an id, too, this becomes X (X) (X), and so on: each id of the
// series takes the next text that no label has. The name depends on the id and the labels alone, so that all files
// of a graph have the same.
func (l *Labels) withoutLabel(id string) string {
	for at := range len(id) + 1 {
		first := id[:at]
		if at < len(id) && !strings.HasPrefix(id[at:], " (") || !l.labels[first] || l.Has(first) {
			continue
		}
		bracket := " (" + first + ")"
		times := (len(id) - at) / len(bracket)
		if id != first+strings.Repeat(bracket, times) {
			continue
		}
		name := first
		for passed := 0; passed <= times; {
			if name += bracket; !l.labels[name] {
				passed++
			}
		}
		return name
	}
	return id
}

// Has reports whether an id has a label.
func (l *Labels) Has(id string) bool { _, ok := l.names[id]; return ok }

// ReadLabels reads a file of ids and their labels: two columns, TSV or CSV. Ids with the same label get different
// names: the label with the id in brackets. A bad line is an error.
func ReadLabels(ctx context.Context, url string) (*Labels, error) {
	l := &Labels{url: url, names: map[string]string{}, labels: map[string]bool{}}
	lines := map[string]int{}
	columns, err := NamesOf.Read(ctx, url, func(line int, id, label string) error {
		if first, twice := lines[id]; twice && l.names[id] != label {
			return triples.BadLine{File: url, Line: line, Reason: fmt.Sprintf("%q has another label in line %d", id, first),
				Remedy: remedy.Do("keep one of them")}
		}
		lines[id], l.names[id] = line, label
		return nil
	}, func(b triples.BadLine) error { return b })
	if err != nil {
		return nil, err
	}
	l.Columns = columns
	return l, l.distinguish(lines)
}

// distinguish gives ids with the same label different names. lines has the number of the line of each id.
func (l *Labels) distinguish(lines map[string]int) error {
	count := map[string]int{}
	for _, label := range l.names {
		count[label]++
	}
	for id, label := range l.names {
		if count[label] > 1 {
			l.names[id] = label + " (" + id + ")"
		}
		if l.labels[l.names[id]] {
			return fmt.Errorf("%s:%d: the name %q is also that of another id; make the labels differ", l.url, lines[id], l.names[id])
		}
		l.labels[l.names[id]] = true
	}
	return nil
}

// ReadNameIDs reads OpenKE's entity2id.txt or relation2id.txt: the number of names, then lines of a name and its
// id. Every id of the facts needs a name. Ids with the same name get different ones, as in ReadLabels.
func ReadNameIDs(ctx context.Context, url string) (*Labels, error) {
	l := &Labels{url: url, names: map[string]string{}, labels: map[string]bool{}, strict: true}
	lines := map[string]int{}
	file, err := storage.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	err = eachCounted(url, storage.Interruptible(ctx, file), func(line int, text string) error {
		// The id is the last word, as names may have spaces.
		cut := strings.LastIndexAny(text, "\t ")
		if cut < 0 {
			return triples.BadLine{File: url, Line: line, Reason: "no id follows the name", Remedy: remedy.Do("write the name, a tab and its id"), Text: text}
		}
		name, id := strings.TrimRight(text[:cut], "\t "), text[cut+1:]
		reason := ""
		switch _, err := strconv.ParseUint(id, 10, 63); {
		case err != nil:
			reason = fmt.Sprintf("%q is no id", id)
		case name == "":
			reason = "the name is empty"
		case l.Has(id):
			reason = fmt.Sprintf("id %s is a duplicate", id)
		}
		if reason != "" {
			return triples.BadLine{File: url, Line: line, Reason: reason, Remedy: remedy.Do("write each id once, with its name"), Text: text}
		}
		l.names[id], lines[id] = name, line
		return nil
	}, func(b triples.BadLine) error { return b })
	if err != nil {
		return nil, err
	}
	return l, l.distinguish(lines)
}

// readNumbers reads OpenKE's train2id.txt: the number of facts, then lines of the ids of head, tail and
// relation, in this order.
func readNumbers(url string, r io.Reader, each Each, bad Bad) error {
	return eachCounted(url, r, func(line int, text string) error {
		ids := strings.Fields(text)
		if len(ids) != 3 {
			return bad(triples.BadLine{
				File: url, Line: line, Reason: fmt.Sprintf("%d fields instead of 3", len(ids)),
				Remedy: remedy.Do("write the ids of head, tail and relation, in this order"), Text: triples.Shown([]byte(text)),
			})
		}
		return each(line, Fact{Head: ids[0], Relation: ids[2], Tail: ids[1]})
	}, bad)
}

// eachCounted calls each for every line after the first, which has their number.
func eachCounted(url string, r io.Reader, each func(line int, text string) error, bad Bad) error {
	declared, found := int64(-1), int64(0)
	err := triples.ReadLines(url, "OpenKE: a number, then so many others", r, func(line int, text []byte) error {
		trimmed := strings.TrimSpace(string(text))
		if declared < 0 {
			var err error
			if declared, err = strconv.ParseInt(trimmed, 10, 63); err != nil || declared < 0 {
				return triples.BadLine{File: url, Line: line, Reason: "the first line is not the number of the others",
					Remedy: remedy.Do("OpenKE's files begin with it; %v names another format", remedy.Flag("format")), Text: triples.Shown(text)}
			}
			return nil
		}
		if trimmed == "" {
			return nil
		}
		found++
		return each(line, trimmed)
	}, func(b triples.BadLine) error {
		found++
		return bad(b)
	})
	if err == nil && found != declared {
		return fmt.Errorf("%s:1: the first line announces %s, but there are %d; the file is cut short, or the number is wrong", url,
			plural(int(declared), "line"), found)
	}
	return err
}
