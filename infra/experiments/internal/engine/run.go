package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/plan"
)

// Engine makes runs.
type Engine struct {
	Folders
	Program Program
	// Trainer is the program of trainings that another call has made; zero if it is not known.
	Trainer   Program
	Processes *Processes
	// Threads is the number of threads of each process.
	Threads int
	// Device and Kernel are passed to train and score, unless they are empty.
	Device, Kernel string
	// Force trains stale runs again.
	Force bool

	graphs map[string]error // what preprocess returned, by dataset
}

// Event tells the caller of Run about a run.
type Event struct {
	plan.Run
	// Begun is true when the run begins, else it has ended.
	Begun bool
	// Result is the result of a completed run, Err the error of a failed one. Neither is set for a run that was interrupted.
	Result *results.Result
	Err    error
	// Unscored are the protocols that the result lacks.
	Unscored []string
}

// Run makes runs, one after another, until all are made or an interrupt comes. It calls tell when one begins and ends. A failure ends one run
// only; if preprocess fails, tell is called once for all runs of the dataset.
func (e *Engine) Run(ctx context.Context, runs []plan.Run, statuses []Status, tell func(Event)) {
	for i, r := range runs {
		if !e.Makes(statuses[i]) || e.graphs[r.Dataset] != nil || e.Processes.Interrupted() {
			continue
		}
		tell(Event{Run: r, Begun: true})
		result, err := e.run(ctx, r, statuses[i])
		event := Event{Run: r}
		switch {
		case err == nil:
			event.Result = &result
		case !errors.Is(err, errInterrupted):
			event.Err = err
		}
		tell(event)
	}
}

// made says how a call made a training and its evaluations.
type made struct {
	// program is that of the training, zero if an earlier call made it.
	program Program
	machine results.Machine
	// cpuSeconds is the processor time of the training, 0 if it was interrupted, and scored the seconds of the evaluations.
	cpuSeconds float64
	scored     map[string]float64
}

// run makes what is missing of a run, and returns its result.
func (e *Engine) run(ctx context.Context, r plan.Run, s Status) (results.Result, error) {
	if err := e.prepare(r); err != nil {
		return results.Result{}, err
	}
	by := made{scored: map[string]float64{}}
	if s.State != Trained {
		took, err := e.train(r, s)
		if err != nil {
			return results.Result{}, err
		}
		by.program, by.machine = e.Program, Machine()
		by.machine.Threads, by.machine.Device = e.Threads, device(e.Log(r.Dataset, r.Name()))
		if s.State != Interrupted {
			by.cpuSeconds = took.CPUSeconds
		}
		s.Unscored = r.Protocols
	}
	for _, protocol := range s.Unscored {
		took, err := e.score(ctx, r, protocol)
		if err != nil {
			return results.Result{}, err
		}
		by.scored[protocol] = took.Seconds
	}
	return e.publish(context.WithoutCancel(ctx), r, by) // an interrupt that comes now has nothing to stop
}

// CollectAll writes the results of the runs that are complete in the state. With partial it also writes those of runs that have no result
// yet and lack only an evaluation. It leaves runs of other data to Run, which compares the facts. It returns the number of results.
func (e *Engine) CollectAll(ctx context.Context, runs []plan.Run, statuses []Status, partial bool, tell func(Event)) (collected int) {
	for i, r := range runs {
		s := statuses[i]
		evaluated := r
		evaluated.Protocols = slices.DeleteFunc(slices.Clone(r.Protocols), func(p string) bool { return slices.Contains(s.Unscored, p) })
		if s.State != Trained || s.OtherData || len(evaluated.Protocols) == 0 || len(s.Unscored) > 0 && (!partial || s.Result != nil) {
			continue
		}
		result, err := e.publish(ctx, evaluated, made{})
		if err != nil {
			tell(Event{Run: r, Err: fmt.Errorf("collecting the result: %w", err)})
			continue
		}
		collected++
		tell(Event{Run: r, Result: &result, Unscored: s.Unscored})
	}
	return collected
}

// publish collects the result of a run and writes its file. From an earlier result of the same weights it keeps what is not made now: the
// program, the machine and the time of the training, the times of evaluations, and evaluations that are no longer in the plan.
func (e *Engine) publish(ctx context.Context, r plan.Run, by made) (results.Result, error) {
	trained := by.program.Path != ""
	if !trained {
		by.program, by.machine = e.Trainer, Machine()
	}
	result, err := e.collect(ctx, r, by)
	if err != nil {
		return result, err
	}
	before, err := results.Read(ctx, filepath.Join(e.Results, result.Path()))
	if err == nil && before.Weights == result.Weights {
		for protocol, evaluation := range before.Evaluation {
			now, evaluated := result.Evaluation[protocol]
			switch {
			case !evaluated:
				result.Evaluation[protocol] = evaluation
			case now.Seconds == 0:
				now.Seconds = evaluation.Seconds
				result.Evaluation[protocol] = now
			}
		}
		if !trained {
			result.Commit, result.Modified, result.Machine, result.Training.CPUSeconds = before.Commit, before.Modified, before.Machine, before.Training.CPUSeconds
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
	if _, there := e.graphs[r.Dataset]; there {
		return nil
	}
	arguments := append(preprocessArguments(r, e.Workspace(r.Dataset)), "--memory", fmt.Sprint(r.Memory))
	_, err := e.Processes.Run(e.Log(r.Dataset, "graph"), e.Program.Path, arguments...)
	if errors.Is(err, errInterrupted) {
		return err
	}
	if err != nil {
		err = &GraphError{r.Dataset, err}
	}
	if e.graphs == nil {
		e.graphs = map[string]error{}
	}
	e.graphs[r.Dataset] = err
	return err
}

// train trains a run, or resumes its training.
func (e *Engine) train(r plan.Run, s Status) (Usage, error) {
	arguments := trainArguments(r, e.Workspace(r.Dataset))
	switch s.State {
	case Interrupted:
		arguments = append(arguments, "--resume")
	case Stale:
		arguments = append(arguments, "--force")
	}
	arguments = append(arguments, "--threads", fmt.Sprint(e.Threads), "--memory", fmt.Sprint(r.Memory))
	return e.compute(r, arguments)
}

// score evaluates a run with a protocol. An evaluation of other weights is replaced.
func (e *Engine) score(ctx context.Context, r plan.Run, protocol string) (Usage, error) {
	arguments := append(scoreArguments(r, e.Workspace(r.Dataset), protocol), "--threads", fmt.Sprint(e.Threads), "--memory", fmt.Sprint(r.Memory))
	there, err := storage.Exists(ctx, storage.Join(e.evaluation(r, protocol), manifest.FileName))
	if err != nil {
		return Usage{}, err
	}
	if there {
		arguments = append(arguments, "--force")
	}
	return e.compute(r, arguments)
}

// compute runs a process of train or score.
func (e *Engine) compute(r plan.Run, arguments []string) (Usage, error) {
	if e.Device != "" {
		arguments = append(arguments, "--device", e.Device)
	}
	if e.Kernel != "" {
		arguments = append(arguments, "--kernel", e.Kernel)
	}
	return e.Processes.Run(e.Log(r.Dataset, r.Name()), e.Program.Path, arguments...)
}

// Makes reports whether Run makes a run with this status.
func (e *Engine) Makes(s Status) bool {
	return slices.Contains([]State{Missing, Interrupted, Trained}, s.State) || s.State == Stale && e.Force
}
