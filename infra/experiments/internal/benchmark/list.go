package benchmark

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/storage/check"
	"tagnet/formats/strict"
)

// ListFile is the name of the list, and ResultsFolder that of the folder of the results beside it: NAME.json.
const (
	ListFile      = "commands.json"
	ResultsFolder = "results"
)

// List is the content of the list.
type List struct {
	// Protocol says for readers how is measured.
	Protocol []string `json:"protocol"`
	Entries  []Entry  `json:"entries"`
	// Elsewhere has what others measured of other programs.
	Elsewhere []Elsewhere `json:"elsewhere"`
}

// Entry is a command to be measured. A command is words that spaces separate: tagnet with its arguments, or go run ./PACKAGE with
// arguments. In arguments, $TAGNET_DATA is the folder of the data.
type Entry struct {
	Name string `json:"name"`
	// What describes the work for readers.
	What string `json:"what"`
	// Prepare are the commands that have to run before; those that another entry has run are not run again.
	Prepare []string `json:"prepare,omitempty"`
	Measure string   `json:"measure"`
	// Count is how many units the command processes. It has to print this number.
	Count int64  `json:"count"`
	Unit  string `json:"unit"`
	// Prints reports that the last line that the command prints is a result of its own, which is kept.
	Prints bool `json:"prints,omitempty"`
}

// Elsewhere is a figure of another program, with its source, and ours for work of that kind: a text that says where it stands, or the name
// of an entry.
type Elsewhere struct {
	Work     string `json:"work"`
	Program  string `json:"program"`
	Figure   string `json:"figure"`
	Hardware string `json:"hardware"`
	Source   string `json:"source"`
	Ours     string `json:"ours,omitempty"`
	Entry    string `json:"entry,omitempty"`
}

// ReadList reads a list. Errors about the file begin with its name, the line and the column.
func ReadList(ctx context.Context, file string) (List, error) {
	var l List
	text, err := storage.ReadFile(ctx, file)
	if err != nil {
		return l, err
	}
	if err := strict.Decode(file, text, &l); err != nil {
		return l, err
	}
	for i, e := range l.Entries {
		if err := l.check(i); err != nil {
			return l, strict.Mistake(file, text, fmt.Sprintf("entry %q: %v", e.Name, err), "entries", fmt.Sprint(i))
		}
	}
	for i, o := range l.Elsewhere {
		known := slices.ContainsFunc(l.Entries, func(e Entry) bool { return e.Name == o.Entry })
		if o.Source == "" || (o.Ours == "") == (o.Entry == "") || o.Entry != "" && !known {
			return l, strict.Mistake(file, text, "source is needed, and either ours or the entry that is ours", "elsewhere", fmt.Sprint(i))
		}
	}
	return l, nil
}

func (l List) check(i int) error {
	e := l.Entries[i]
	if err := check.FileName("name", e.Name); err != nil {
		return err
	}
	for _, command := range append(slices.Clone(e.Prepare), e.Measure) {
		if _, err := parse(command); err != nil {
			return err
		}
	}
	for _, other := range l.Entries[:i] {
		switch {
		case other.Name == e.Name:
			return fmt.Errorf("the name stands twice")
		case slices.Contains(other.Prepare, e.Measure) || other.Measure == e.Measure:
			return fmt.Errorf("%s runs the same command before: %s", other.Name, e.Measure)
		}
	}
	if e.Count < 1 || e.Unit == "" {
		return fmt.Errorf("count has to be 1 or more, and unit to say of what")
	}
	return nil
}

// command is a command that is parsed: the package of its program, and the arguments.
type command struct {
	program   string
	arguments []string
}

func parse(text string) (command, error) {
	words := strings.Fields(text)
	switch {
	case len(words) > 1 && words[0] == "tagnet":
		return command{program: "./pipelines/tagnet", arguments: words[1:]}, nil
	case len(words) > 2 && words[0] == "go" && words[1] == "run" && strings.HasPrefix(words[2], "./"):
		return command{program: words[2], arguments: words[3:]}, nil
	}
	return command{}, fmt.Errorf("%q is no command: begin with tagnet, or go run ./PACKAGE", text)
}
