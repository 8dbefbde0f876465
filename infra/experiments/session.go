package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"tagnet/formats/input/datasets"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/infra/experiments/internal/plan"
	"tagnet/infra/internal/program"
)

// session is one run of the command.
type session struct {
	options
	engine           *engine.Engine
	runs             []plan.Run
	statuses         []engine.Status // of each run
	out, diagnostics io.Writer
	failures         []string
}

// inspect finds out how far the runs are.
func (s *session) inspect(ctx context.Context) error {
	for _, r := range s.runs {
		status, err := s.engine.Inspect(ctx, r, s.force)
		if err != nil {
			return fmt.Errorf("%s: %w", r.ID(), err)
		}
		s.statuses = append(s.statuses, status)
	}
	return nil
}

// checkDatasets returns an error if a run that is missing names a dataset that does not exist.
func (s *session) checkDatasets(ctx context.Context) error {
	for i, r := range s.runs {
		if s.engine.Makes(s.statuses[i]) {
			if err := checkDataset(ctx, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkDataset returns an error if the dataset of a run is neither a file nor in the catalog. Files of the catalog that have not
// been downloaded are no mistake in the command: their runs fail, and others are made.
func checkDataset(ctx context.Context, r plan.Run) error {
	for _, name := range []string{r.Source, r.Inference} {
		if name == "" {
			continue
		}
		if _, err := datasets.Resolve(ctx, name); errors.Is(err, datasets.ErrUnknown) {
			return program.Usage("%s: dataset %w", r.Cell(), err)
		}
	}
	return nil
}

// collect writes the results of complete runs.
func (s *session) collect(ctx context.Context) error {
	collected := s.engine.CollectAll(ctx, s.runs, s.statuses, true, s.ended)
	fmt.Fprintf(s.out, "%s collected to %s; %d of %d are done\n", count(collected, "result"), s.results, s.count(engine.Done), len(s.runs))
	return s.failed()
}

// make makes the runs that are missing.
func (s *session) make(ctx context.Context) (err error) {
	release, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	s.engine.CollectAll(ctx, s.runs, s.statuses, false, s.ended)
	if s.waiting() == 0 {
		s.finish(0)
		return s.failed()
	}
	if err := storage.CheckWritable(ctx, s.results); err != nil {
		return fmt.Errorf("--results: %w", err)
	}
	if err := s.build(ctx); err != nil {
		return err
	}
	fmt.Fprintf(s.diagnostics, "%s to make on %s\n", count(s.waiting(), "run"), count(s.threads, "thread"))
	stop, timeUp := s.stopInTime()
	defer stop()
	begun := time.Now()
	s.engine.Run(ctx, s.runs, s.statuses, func(e engine.Event) {
		if e.Begun {
			fmt.Fprintf(s.diagnostics, "%d of %d runs done; %s\n", s.count(engine.Done), len(s.runs), e.ID())
			return
		}
		s.ended(e)
	})
	s.finish(time.Since(begun))
	if s.engine.Processes.Interrupted() && !timeUp() {
		return context.Canceled
	}
	return s.failed()
}

// build builds the program that trains, unless --tagnet names one.
func (s *session) build(ctx context.Context) (err error) {
	if s.engine.Program.Path == "" {
		fmt.Fprintln(s.diagnostics, "building tagnet")
		s.engine.Program, err = engine.Build(ctx, filepath.Join(s.state, "bin", "tagnet"))
	}
	return err
}

// lock locks the state.
func (s *session) lock(ctx context.Context) (release func() error, err error) {
	return engine.Lock(ctx, s.state, s.commandLine())
}

// stopInTime passes interrupts on to the processes, and interrupts them when the time of --hours is over, which timeUp reports.
func (s *session) stopInTime() (stop func(), timeUp func() bool) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as under nohup
		signals = append(signals, syscall.SIGHUP)
	}
	received := make(chan os.Signal, 2)
	signal.Notify(received, signals...)
	done := make(chan struct{})
	var over atomic.Bool
	var end <-chan time.Time
	if s.hours > 0 {
		end = time.After(time.Duration(s.hours * float64(time.Hour)))
	}
	go func() {
		for {
			select {
			case <-received:
				if s.engine.Processes.Interrupted() {
					fmt.Fprintln(s.diagnostics, "\ninterrupted again: the steps since the last checkpoint are lost")
				} else {
					fmt.Fprintln(s.diagnostics, "\ninterrupted: waiting for the training to save its checkpoint; a second interrupt ends it at once")
				}
			case <-end:
				fmt.Fprintf(s.diagnostics, "\nthe time of --hours %v is over: waiting for the training to save its checkpoint\n", s.hours)
				over.Store(true)
			case <-done:
				return
			}
			s.engine.Processes.Interrupt()
		}
	}()
	return func() { signal.Stop(received); close(done) }, over.Load
}

// ended prints the line of a run that has ended, and keeps its result or failure.
func (s *session) ended(e engine.Event) {
	switch {
	case e.Err != nil:
		var graph *engine.GraphError
		name := e.ID()
		if errors.As(e.Err, &graph) {
			name = "the graph of " + graph.Dataset
		}
		fmt.Fprintf(s.out, "%s: failed\n", name)
		s.failures = append(s.failures, fmt.Sprintf("%s: %v", name, e.Err))
	case e.Result != nil:
		if len(e.Unscored) > 0 {
			fmt.Fprintf(s.out, "%s: %s; to evaluate: %s\n", e.ID(), summary(*e.Result), strings.Join(e.Unscored, ", "))
			return
		}
		i := slices.IndexFunc(s.runs, func(r plan.Run) bool { return r.ID() == e.ID() })
		s.statuses[i] = engine.Status{State: engine.Done, Epochs: e.Result.Training.Epochs, Result: e.Result}
		fmt.Fprintf(s.out, "%s: %s\n", e.ID(), summary(*e.Result))
	}
}

// summary describes a result in a line.
func summary(r results.Result) string {
	text := fmt.Sprintf("best epoch %d of %d", r.Training.BestEpoch, r.Training.Epochs)
	if e, ok := r.Evaluation[results.TestProtocol]; ok {
		m := e.Pessimistic
		text = fmt.Sprintf("MRR %.4f, Hits@1 %.4f, Hits@10 %.4f, %s", m.MRR, m.Hits1, m.Hits10, text)
	}
	return text + ", trained in " + duration(r.Training.Seconds)
}

// finish prints the table of the results and the number of runs that are done, stale or running elsewhere.
func (s *session) finish(took time.Duration) {
	s.printTable()
	if stale := s.count(engine.Stale); stale > 0 {
		fmt.Fprintf(s.out, "%s stale, made with another configuration, or damaged; --plan says how, --force makes them again\n", are(stale, "run"))
	}
	if running := s.count(engine.Running); running > 0 {
		fmt.Fprintf(s.out, "%s made by other processes; the same command collects them later\n", are(running, "run"))
	}
	text := fmt.Sprintf("%d of %d runs are done", s.count(engine.Done), len(s.runs))
	if took > 0 {
		text += ", after " + duration(took.Seconds())
	}
	fmt.Fprintf(s.out, "%s; results: %s\n", text, s.results)
}

// failed returns an error if runs failed, and prints each with its log.
func (s *session) failed() error {
	for _, failure := range s.failures {
		fmt.Fprintln(s.diagnostics, failure)
	}
	if n := len(s.failures); n > 0 {
		return fmt.Errorf("%s, and %d of %d runs are done; the same command tries again", count(n, "failure"), s.count(engine.Done), len(s.runs))
	}
	return nil
}

func (s *session) count(state engine.State) (n int) {
	for _, status := range s.statuses {
		if status.State == state {
			n++
		}
	}
	return n
}

// waiting returns the number of runs that are to be made.
func (s *session) waiting() (n int) {
	for _, status := range s.statuses {
		if s.engine.Makes(status) {
			n++
		}
	}
	return n
}
