package benchmark

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"tagnet/formats/input/datasets"
	"tagnet/formats/storage"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/model/engine/kernel"
)

// Runner measures entries.
type Runner struct {
	// Folder is that of the list, State that of the programs, the logs and the folder work, in which the commands run.
	Folder, State string
	Processes     *engine.Processes
	// Build builds the program of a package at a path.
	Build func(ctx context.Context, name, path string) (engine.Program, error)

	programs map[string]engine.Program // by their packages
	ran      map[string]bool           // the commands that have succeeded
}

// Open begins with an empty folder of work.
func (r *Runner) Open() (err error) {
	if r.State, err = filepath.Abs(r.State); err != nil {
		return err
	}
	r.programs, r.ran = map[string]engine.Program{}, map[string]bool{}
	r.Processes.Folder = filepath.Join(r.State, "work")
	if err := os.RemoveAll(r.Processes.Folder); err != nil {
		return err
	}
	return os.MkdirAll(r.Processes.Folder, 0o777)
}

// Measure prepares an entry, runs its command, and writes the result.
func (r *Runner) Measure(ctx context.Context, e Entry) (Result, error) {
	k, err := kernel.Named("")
	if err != nil {
		return Result{}, err
	}
	log := filepath.Join(r.State, "logs", e.Name+".log")
	for _, command := range e.Prepare {
		if r.ran[command] {
			continue
		}
		if _, _, err := r.run(ctx, log, command); err != nil {
			return Result{}, err
		}
	}
	log = filepath.Join(r.State, "logs", e.Name+"-measured.log")
	if err := os.Remove(log); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Result{}, err
	}
	m := Result{FormatVersion: FormatVersion, Entry: e, Load: engine.Load(), Kernel: k.Name(), Machine: engine.Machine()}
	program, took, err := r.run(ctx, log, e.Measure)
	if err != nil {
		return m, err
	}
	m.Seconds, m.CPUSeconds, m.PeakMiB, m.Commit, m.Modified = took.Seconds, took.CPUSeconds, took.PeakMiB, program.Commit, program.Modified
	text, err := os.ReadFile(log)
	if err != nil {
		return m, err
	}
	_, printed, _ := strings.Cut(strings.TrimSpace(string(text)), "\n") // after the command line
	if !prints(printed, e.Count) {
		return m, fmt.Errorf("the command did not print %d, the number of %s in the list (log: %s)", e.Count, e.Unit, log)
	}
	if e.Prints {
		m.Printed = printed[strings.LastIndexByte(printed, '\n')+1:]
	}
	return m, storage.WriteJSON(ctx, file(r.Folder, e), m)
}

// prints reports whether a text has a number, with or without commas.
func prints(text string, n int64) bool {
	return regexp.MustCompile(fmt.Sprintf(`(^|[^0-9])%d($|[^0-9])`, n)).MatchString(strings.ReplaceAll(text, ",", ""))
}

// run runs a command, and builds its program before if that is not built yet.
func (r *Runner) run(ctx context.Context, log, text string) (p engine.Program, took engine.Usage, err error) {
	c, err := parse(text)
	if err != nil {
		return p, took, err
	}
	p, built := r.programs[c.program]
	if !built {
		// Two packages may have one base name, and one may be a folder of another.
		path := filepath.Join(r.State, "bin", strings.ReplaceAll(strings.TrimPrefix(c.program, "./"), "/", "-"))
		if p, err = r.Build(ctx, c.program, path); err != nil {
			return p, took, err
		}
		r.programs[c.program] = p
	}
	for i, argument := range c.arguments {
		c.arguments[i] = strings.ReplaceAll(argument, "$"+datasets.DataVariable, os.Getenv(datasets.DataVariable))
	}
	took, err = r.Processes.Run(log, p.Path, c.arguments...)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	r.ran[text] = err == nil
	return p, took, err
}
