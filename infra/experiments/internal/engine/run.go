package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"tagnet/formats/manifest"
	"tagnet/formats/results"
	"tagnet/formats/storage"
	"tagnet/infra/experiments/internal/plan"
)

// Engine makes runs.
type Engine struct {
	Folders
	Program Program
	// Trainer is the program of the trainings of which there is no journal; zero if it is not known.
	Trainer   Program
	Processes *Processes
	// Cores and Memory, in MiB, bound all processes together.
	Cores, Memory int
	// Device and Kernel are passed to train and score, unless they are empty.
	Device, Kernel string
	// Force trains stale runs again.
	Force bool

	mu     sync.Mutex
	graphs map[string]func() error // preprocess each dataset, once
}

// run makes what is missing of a run, with some threads, and returns its result.
func (e *Engine) run(ctx context.Context, r plan.Run, s Status, threads int) (results.Result, error) {
	if err := e.prepare(r); err != nil {
		return results.Result{}, err
	}
	if s.State != Trained {
		if err := e.train(r, s, threads); err != nil {
			return results.Result{}, err
		}
		s.Unscored = r.Protocols
	}
	for _, protocol := range s.Unscored {
		if err := e.score(ctx, r, protocol, threads); err != nil {
			return results.Result{}, err
		}
	}
	return e.publish(context.WithoutCancel(ctx), r) // an interrupt that comes now has nothing to stop
}

// publish collects the result of a run and writes its file. From an earlier result of the same weights it keeps what the state lacks: evaluations
// that are no longer in the plan, and the program and the machine of a training that is not in the journal.
func (e *Engine) publish(ctx context.Context, r plan.Run) (results.Result, error) {
	result, err := e.Collect(ctx, r, e.Trainer)
	if err != nil {
		return result, err
	}
	before, err := results.Read(ctx, filepath.Join(e.Results, result.Path()))
	if err == nil && before.Weights == result.Weights {
		maps.Copy(before.Evaluation, result.Evaluation)
		result.Evaluation = before.Evaluation
		if result.Commit == "" {
			result.Commit, result.Modified, result.Machine = before.Commit, before.Modified, before.Machine
		}
	}
	return result, results.Write(ctx, e.Results, result)
}

// GraphError is the failure of preprocess, and so of all runs of a dataset.
type GraphError struct {
	Dataset string
	err     error
}

// Error names the dataset.
func (g *GraphError) Error() string { return g.err.Error() }

// Unwrap returns the failure itself.
func (g *GraphError) Unwrap() error { return g.err }

// prepare runs preprocess once for each dataset. If the graph exists, preprocess compares the facts with the graph's.
func (e *Engine) prepare(r plan.Run) error {
	e.mu.Lock()
	if e.graphs == nil {
		e.graphs = map[string]func() error{}
	}
	if e.graphs[r.Dataset] == nil {
		e.graphs[r.Dataset] = sync.OnceValue(func() error {
			arguments := append(preprocessArguments(r, e.Workspace(r.Dataset)), "--memory", fmt.Sprint(r.Memory))
			_, err := e.Processes.Run(e.Log(r.Dataset, "graph"), e.Program.Path, arguments...)
			return err
		})
	}
	preprocess := e.graphs[r.Dataset]
	e.mu.Unlock()
	err := preprocess()
	if err == nil || errors.Is(err, errInterrupted) {
		return err
	}
	return &GraphError{r.Dataset, err}
}

// train trains a run, or resumes its training.
func (e *Engine) train(r plan.Run, s Status, threads int) error {
	arguments := trainArguments(r, e.Workspace(r.Dataset))
	resumed := s.State == Interrupted
	switch {
	case resumed:
		arguments = append(arguments, "--resume")
	case s.State == Stale:
		arguments = append(arguments, "--force")
	}
	if !resumed { // what the journal has is of a training that no longer exists
		if err := os.Remove(string(e.journal(r))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	arguments = append(arguments, "--replicas", fmt.Sprint(threads), "--memory", fmt.Sprint(r.Memory))
	return e.recorded(r, event{Stage: trainStage, Resumed: resumed}, threads, arguments)
}

// score evaluates a run with a protocol. An evaluation of other weights is replaced.
func (e *Engine) score(ctx context.Context, r plan.Run, protocol string, threads int) error {
	arguments := append(scoreArguments(r, e.Workspace(r.Dataset), protocol), "--threads", fmt.Sprint(threads), "--memory", fmt.Sprint(r.Memory))
	there, err := storage.Exists(ctx, storage.Join(e.evaluation(r, protocol), manifest.FileName))
	if err != nil {
		return err
	}
	if there {
		arguments = append(arguments, "--force")
	}
	return e.recorded(r, event{Stage: protocol}, threads, arguments)
}

// recorded runs a process of train or score and writes its begin and its end to the journal.
func (e *Engine) recorded(r plan.Run, begun event, threads int, arguments []string) error {
	if e.Device != "" {
		arguments = append(arguments, "--device", e.Device)
	}
	if e.Kernel != "" {
		arguments = append(arguments, "--kernel", e.Kernel)
	}
	begun.Commit, begun.Modified, begun.Machine = e.Program.Commit, e.Program.Modified, Machine()
	begun.Machine.Threads = threads
	j, log := e.journal(r), e.Log(r.Dataset, r.Name())
	if err := j.append(begun); err != nil {
		return err
	}
	took, err := e.Processes.Run(log, e.Program.Path, arguments...)
	ended := begun
	ended.Ended, ended.Seconds, ended.CPUSeconds, ended.Machine.Device = true, took.Seconds, took.CPUSeconds, device(log)
	return errors.Join(err, j.append(ended))
}

// Needs returns an error if the memory does not suffice for a run.
func (e *Engine) Needs(r plan.Run) error {
	if r.Memory > e.Memory {
		return fmt.Errorf("--memory %d is too small: a training of %s uses %d MiB; give it that, or set memory in the file", e.Memory, r.ID(), r.Memory)
	}
	return nil
}

// Progress returns the epochs that a training has finished by now, none if it has not begun.
func (f Folders) Progress(ctx context.Context, r plan.Run) results.Training {
	t, err := f.history(ctx, r)
	if err != nil {
		return results.Training{}
	}
	return t
}

// work is a run that is to be made.
type work struct {
	plan.Run
	Status
}

// Makes reports whether Run makes a run with this status.
func (e *Engine) Makes(s Status) bool {
	return slices.Contains([]State{Missing, Interrupted, Trained}, s.State) || s.State == Stale && e.Force
}
