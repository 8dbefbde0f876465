package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"tagnet/formats/results"
	"tagnet/infra/experiments/internal/plan"
)

// Event tells the caller of Run about a run.
type Event struct {
	plan.Run
	// Begun is true when the run begins, else it has ended.
	Begun bool
	// Threads is the number of threads that it has.
	Threads int
	// Result is the result of a completed run, Err the error of a failed one. Neither is set for a run that was interrupted.
	Result *results.Result
	Err    error
	// Unscored are the protocols that the result lacks.
	Unscored []string
}

// Run makes runs, in their order and several at a time, until all are made or an interrupt comes. It calls tell, from this goroutine,
// when one begins and ends. A failure ends one run only; if preprocess fails, tell is called once for all runs of the dataset.
func (e *Engine) Run(ctx context.Context, runs []plan.Run, statuses []Status, tell func(Event)) error {
	var waiting []work
	for i, r := range runs {
		if e.Makes(statuses[i]) {
			if err := e.Needs(r); err != nil {
				return err
			}
			waiting = append(waiting, work{r, statuses[i]})
		}
	}
	cores, memory, active := e.Cores, e.Memory, 0
	ended := make(chan Event)
	failedGraphs := map[string]bool{}
	for {
		for len(waiting) > 0 && !e.Processes.Interrupted() && cores > 0 && waiting[0].Memory <= memory {
			next := waiting[0]
			waiting = waiting[1:]
			if failedGraphs[next.Dataset] {
				continue
			}
			threads := max(1, cores/(len(waiting)+1)) // the last runs share what is free
			next.Memory = max(next.Memory, memory/(len(waiting)+1))
			cores, memory, active = cores-threads, memory-next.Memory, active+1
			tell(Event{Run: next.Run, Begun: true, Threads: threads})
			go func() {
				result, err := e.run(ctx, next.Run, next.Status, threads)
				event := Event{Run: next.Run, Threads: threads}
				switch {
				case err == nil:
					event.Result = &result
				case !errors.Is(err, errInterrupted):
					event.Err = err
				}
				ended <- event
			}()
		}
		if active == 0 {
			return nil
		}
		event := <-ended
		cores, memory, active = cores+event.Threads, memory+event.Memory, active-1
		var graph *GraphError
		if errors.As(event.Err, &graph) {
			if failedGraphs[graph.Dataset] {
				event.Err = nil
			}
			failedGraphs[graph.Dataset] = true
		}
		tell(event)
	}
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
		result, err := e.publish(ctx, evaluated)
		if err != nil {
			tell(Event{Run: r, Err: fmt.Errorf("collecting the result: %w", err)})
			continue
		}
		collected++
		tell(Event{Run: r, Result: &result, Unscored: s.Unscored})
	}
	return collected
}
