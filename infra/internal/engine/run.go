package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tagnet/formats/input/datasets"
	"tagnet/formats/names"
	"tagnet/formats/storage/lock"
	"tagnet/model/engine/kernel"
)

// Run is commands that lead to one result.
type Run struct {
	// Name is the name of the result: GRAPH/MODEL, for example.
	Name string
	// Inputs decide the metrics. A result with others is stale.
	Inputs map[string]string
	// Clean are folders of the work that are removed before the first command, so that all of them are made
	// while the clock runs.
	Clean    []string
	Commands []Command
}

// Words returns a program and its arguments: tagnet, or go run ./PACKAGE. They may depend on what was written before
// below the folder of the work. $TAGNET_DATA stands for the folder of the data.
type Words func(ctx context.Context, work string) ([]string, error)

// Command is a step of a run.
type Command struct {
	// Name is that in the result. A command without a name prepares: it is not measured, and a call of Make runs it
	// once for all runs.
	Name  string
	Words Words
	// Make is called instead of a command if it is set. Its value is kept as JSON.
	Make func(ctx context.Context, work string) (any, error)
	// Training is the folder of a run that is trained, Evaluation that of metrics, and Graph that of a graph,
	// all below the work.
	Training, Evaluation, Graph string
	// Unfitted ends the command when the checkpoints of the training are complete, before it fits probabilities.
	Unfitted bool
	// Count is a number that the command has to print, if it is not 0.
	Count int64
}

// Engine makes runs.
type Engine struct {
	// State is the folder of workspaces, logs and programs, Results that of the result files.
	State, Results string
	// Force makes stale and finished runs again. Fresh begins with an empty folder of the work.
	Force, Fresh bool
	// Out gets a line for each result, Diagnostics the progress.
	Out, Diagnostics io.Writer

	bin      string // folder of the programs
	programs map[string]Program
	prepared map[string]bool
}

// The states of a run.
const (
	Done    = "done"
	Stale   = "stale" // its inputs are others now, or its file is damaged
	Missing = "missing"
)

// Inspect returns how far a run is, why it is stale, and its result.
func (e *Engine) Inspect(ctx context.Context, r Run) (state, why string, result *Result) {
	result, err := Read(ctx, e.Results, r.Name)
	switch {
	case err != nil:
		return Stale, err.Error(), nil
	case result == nil:
		return Missing, "", nil
	}
	differences := result.Differences(r.Inputs)
	for _, c := range r.Commands {
		if _, measured := result.Commands[c.Name]; c.Name != "" && !measured {
			differences = append(differences, "it lacks "+c.Name)
		}
	}
	if len(differences) > 0 {
		return Stale, strings.Join(differences, ", "), result
	}
	return Done, "", result
}

// open locks the state, and names the folder of the data for commands, which run elsewhere.
func (e *Engine) open(ctx context.Context, command string) (release func() error, err error) {
	if e.State, err = filepath.Abs(e.State); err != nil {
		return nil, err
	}
	data, err := filepath.Abs(Data(""))
	if err != nil {
		return nil, err
	}
	l, err := lock.Acquire(ctx, e.State, command, false)
	var held *lock.Held
	if errors.As(err, &held) {
		return nil,
			fmt.Errorf("--state %s is used by process %d on host %s since %s: wait until it ends, or use another --state; if it has ended, remove %s there",
				e.State, held.Owner.Process, held.Owner.Host, held.Owner.Begun.Format(time.DateTime+" MST"), lock.FileName)
	}
	if err != nil {
		return nil, err
	}
	e.bin, e.programs, e.prepared = cmp.Or(e.bin, filepath.Join(e.State, "bin")), map[string]Program{}, map[string]bool{}
	if e.Fresh {
		err = os.RemoveAll(e.work())
	}
	release = func() error { return l.Release(context.WithoutCancel(ctx)) }
	return release, errors.Join(err, os.MkdirAll(e.work(), 0o777), os.Setenv(datasets.DataVariable, data))
}

// Data returns the path of a folder or a file below the folder of the data.
func Data(name string) string {
	return filepath.Join(cmp.Or(os.Getenv(datasets.DataVariable), "data"), name)
}

func (e *Engine) work() string       { return filepath.Join(e.State, "work") }
func (e *Engine) unfinished() string { return filepath.Join(e.State, "unfinished") }

// Make makes the runs that are missing, and with Force all. A run that fails does not stop the others. command is
// recorded in the lock of the state.
func (e *Engine) Make(ctx context.Context, command string, runs []Run) (err error) {
	release, err := e.open(ctx, command)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	var failed []string
	done := 0
	for i, r := range runs {
		state, why, _ := e.Inspect(ctx, r)
		if state == Stale && !e.Force {
			fmt.Fprintf(e.Diagnostics, "%s is stale: %s; --force makes it again\n", r.Name, why)
			continue
		}
		if state == Missing || e.Force {
			fmt.Fprintf(e.Diagnostics, "%d of %d: %s\n", i+1, len(runs), r.Name)
			err := e.make(ctx, r)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				failed = append(failed, r.Name)
				fmt.Fprintf(e.Diagnostics, "%s failed: %v\n", r.Name, err)
				continue
			}
		}
		done++
	}
	fmt.Fprintf(e.Out, "%d of %d runs are done; results: %s\n", done, len(runs), e.Results)
	if len(failed) > 0 {
		return fmt.Errorf("%d failed: %s; the same command tries again", len(failed), strings.Join(failed, ", "))
	}
	return nil
}

// make runs the commands of a run that are not done, and writes the result. What is done of it is in a file of
// unfinished results meanwhile.
func (e *Engine) make(ctx context.Context, r Run) error {
	result, err := Read(ctx, e.unfinished(), r.Name)
	if err != nil || result == nil || len(result.Differences(r.Inputs)) > 0 {
		k, err := kernel.Named("") // what the commands compute with
		if err := errors.Join(err, e.clean(r)); err != nil {
			return err
		}
		result = &Result{Run: r.Name, Inputs: r.Inputs, Machine: machine(), Kernels: []string{k.Name()}, Commands: map[string]Measured{}}
	}
	for _, c := range r.Commands {
		if _, done := result.Commands[c.Name]; done {
			continue
		}
		if err := e.step(ctx, r, c, result); err != nil {
			return err
		}
		if c.Name != "" {
			if err := result.write(ctx, e.unfinished()); err != nil {
				return err
			}
		}
	}
	if err := result.write(ctx, e.Results); err != nil {
		return err
	}
	fmt.Fprintf(e.Out, "%s: %s\n", r.Name, result.summary(r))
	return os.Remove(file(e.unfinished(), r.Name))
}

// clean removes what a run begins without: with Force, also its trainings.
func (e *Engine) clean(r Run) error {
	folders := slices.Clone(r.Clean)
	for _, c := range r.Commands {
		if e.Force && c.Name != "" && c.Training != "" {
			folders = append(folders, c.Training)
		}
	}
	for _, folder := range folders {
		if err := os.RemoveAll(filepath.Join(e.work(), folder)); err != nil {
			return err
		}
	}
	return nil
}

// step runs a command and adds what it took and wrote to the result.
func (e *Engine) step(ctx context.Context, r Run, c Command, result *Result) error {
	if c.Make != nil {
		value, err := c.Make(ctx, e.work())
		if err != nil || c.Name == "" {
			return err
		}
		text, err := json.Marshal(value)
		result.Commands[c.Name] = Measured{Made: text}
		return err
	}
	words, err := c.Words(ctx, e.work())
	if err != nil {
		return err
	}
	line := names.CommandLine(words...)
	if c.Name == "" && e.prepared[line] {
		return nil
	}
	if c.Evaluation != "" && c.Name != "" { // score would refuse to replace one of other weights
		if err := os.RemoveAll(filepath.Join(e.work(), c.Evaluation)); err != nil {
			return err
		}
	}
	begun, resume, err := e.resumed(ctx, c)
	if err != nil {
		return err
	}
	p, arguments, err := e.program(ctx, words)
	if err != nil {
		return err
	}
	load := load()
	var enough func() bool
	if c.Unfitted {
		enough = func() bool { return e.complete(ctx, c) }
	}
	printed, m, err := e.process(ctx, filepath.Join(e.State, "logs", r.Name+".log"), p.Path, append(arguments, resume...), enough)
	if err != nil {
		return err
	}
	result.Commit, result.Modified = p.Commit, p.Modified
	if e.prepared[line] = true; c.Name == "" {
		return nil
	}
	if begun { // what earlier processes took is not known
		m = Measured{}
	}
	m.Command, m.Load = line, load
	if c.Count > 0 && !prints(printed, c.Count) {
		return fmt.Errorf("%s did not print %d, as the list says", line, c.Count)
	}
	err = e.read(ctx, c, printed, &m, result)
	result.Commands[c.Name] = m
	return err
}

// summary describes a result in a line, in the order of the commands.
func (r Result) summary(run Run) string {
	var parts []string
	for _, c := range run.Commands {
		m, named := r.Commands[c.Name]
		switch e := m.Evaluation; {
		case !named:
			continue
		case e != nil:
			parts = append(parts, fmt.Sprintf("%s MRR %.4f, Hits@10 %.4f of %d queries in %.1f s of processor time", c.Name, e.Pessimistic.MRR,
				e.Pessimistic.Hits10, e.Queries, m.CPUSeconds))
		case m.Made != nil:
			parts = append(parts, fmt.Sprintf("%s %.200s", c.Name, m.Made))
		case m.Seconds == 0:
			parts = append(parts, c.Name+" was resumed, so that its time is not known")
		default:
			parts = append(parts, fmt.Sprintf("%s took %.1f s, %.1f s of processor time, %.0f MiB", c.Name, m.Seconds, m.CPUSeconds, m.PeakMiB))
		}
	}
	return strings.Join(parts, "; ")
}

// Select returns the runs whose names, or the parts of them before or after the slash, one of the patterns matches,
// which are separated by commas; all, without a pattern. Each pattern has to match a run.
func Select(runs []Run, patterns string) (selected []Run, err error) {
	if patterns == "" {
		return runs, nil
	}
	matches := func(pattern string, r Run) bool {
		return slices.ContainsFunc([]string{r.Name, path.Dir(r.Name), path.Base(r.Name)}, func(text string) bool {
			ok, _ := path.Match(pattern, text) // what is no pattern matches nothing
			return ok
		})
	}
	wanted := strings.Split(patterns, ",")
	for _, pattern := range wanted {
		if !slices.ContainsFunc(runs, func(r Run) bool { return matches(pattern, r) }) {
			var all []string
			for _, r := range runs {
				all = append(all, r.Name)
			}
			return nil, fmt.Errorf("no run matches %q; the closest are %s", pattern, strings.Join(names.Closest(pattern, all, 3), ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(runs), func(r Run) bool {
		return !slices.ContainsFunc(wanted, func(pattern string) bool { return matches(pattern, r) })
	}), nil
}
