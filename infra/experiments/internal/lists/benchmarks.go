package lists

import (
	"fmt"
	"strings"

	"tagnet/infra/internal/engine"
)

// MeasureCommand is the command in a result of Benchmarks.
const MeasureCommand = "measure"

// Benchmarks lists commands whose time and memory are measured. Protocol says for readers how.
type Benchmarks struct {
	Protocol []string `json:"protocol"`
	Entries  []Entry  `json:"entries"`
}

// Entry is a command to be measured. A command is words that spaces separate: tagnet with its arguments, or go run
// ./PACKAGE with arguments. In arguments, $TAGNET_DATA is the folder of the data.
type Entry struct {
	Name string `json:"name"`
	What string `json:"what"` // for readers
	// Prepare are the commands that have to run before; those that another entry has run are not run again.
	Prepare []string `json:"prepare"`
	Measure string   `json:"measure"`
	// Count is how many units the command processes. It has to print this number.
	Count int64  `json:"count"`
	Unit  string `json:"unit"`
}

// Runs returns the runs of the entries. A command that another entry prepares with is measured before: afterwards it
// would find its output.
func (l Benchmarks) Runs(int) (runs []engine.Run, err error) {
	for _, e := range l.Entries {
		r := engine.Run{Name: e.Name, Inputs: map[string]string{"measure": e.Measure, "prepare": strings.Join(e.Prepare, "; "), "count": fmt.Sprint(e.Count)}}
		for _, line := range e.Prepare {
			r.Commands = append(r.Commands, engine.Command{Words: words(strings.Fields(line)...)})
		}
		r.Commands = append(r.Commands, engine.Command{Name: MeasureCommand, Words: words(strings.Fields(e.Measure)...), Count: e.Count})
		runs = append(runs, r)
	}
	return runs, nil
}
