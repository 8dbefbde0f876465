package lists

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/strict"
	"tagnet/infra/internal/engine"
)

// MeasureCommand is the command in a result of Benchmarks.
const MeasureCommand = "measure"

// Benchmarks lists commands whose time and memory are measured. Protocol says for readers how.
type Benchmarks struct {
	Protocol []string `json:"protocol"`
	Entries  []Entry  `json:"entries"`
}

// Entry is a command to be measured. A command is words that spaces separate: tagnet with its arguments, or go run ./PACKAGE with
// arguments. In arguments, $TAGNET_DATA is the folder of the data.
type Entry struct {
	Name string `json:"name"`
	What string `json:"what"` // for readers
	// Prepare are the commands that have to run before; those that another entry has run are not run again.
	Prepare []string `json:"prepare"`
	Measure string   `json:"measure"`
	// Count is how many units the command processes. It has to print this number.
	Count int64  `json:"count"`
	Unit  string `json:"unit"`
	// Prints reports that the last line that the command prints is a result of its own, which is kept.
	Prints bool `json:"prints"`
}

// ReadBenchmarks reads a list of commands.
func ReadBenchmarks(ctx context.Context, path string) (Benchmarks, error) {
	l, text, err := decode[Benchmarks](ctx, path)
	if err != nil {
		return l, err
	}
	ran, known := map[string]bool{}, map[string]bool{}
	for i, e := range l.Entries {
		// A command that an entry before prepares with or measures would find its own output.
		if !folderName.MatchString(e.Name) || known[e.Name] || ran[e.Measure] || e.Count < 1 || e.Unit == "" {
			return l, strict.Mistake(path, text, fmt.Sprintf("entry %q: a name and a command of its own are needed, and a count of units", e.Name), "entries", strconv.Itoa(i))
		}
		known[e.Name] = true
		for _, line := range append(slices.Clone(e.Prepare), e.Measure) {
			ran[line] = true
		}
	}
	return l, nil
}

// Runs returns the runs of the entries.
func (l Benchmarks) Runs() (runs []engine.Run) {
	for _, e := range l.Entries {
		r := engine.Run{Name: e.Name, Inputs: map[string]string{"measure": e.Measure, "prepare": strings.Join(e.Prepare, "; "), "count": fmt.Sprint(e.Count)}}
		for _, line := range e.Prepare {
			r.Commands = append(r.Commands, engine.Command{Words: words(strings.Fields(line)...)})
		}
		r.Commands = append(r.Commands, engine.Command{Name: MeasureCommand, Words: words(strings.Fields(e.Measure)...), Count: e.Count, Keep: e.Prints})
		runs = append(runs, r)
	}
	return runs
}
