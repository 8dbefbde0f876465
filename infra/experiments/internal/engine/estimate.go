package engine

import (
	"slices"

	"tagnet/formats/results"
	"tagnet/infra/experiments/internal/plan"
)

// Estimates predict what trainings take from those that are done, in seconds of one thread.
type Estimates struct {
	cells, datasets map[string][]float64 // seconds of an epoch
}

// Add adds the result of a run.
func (e *Estimates) Add(r plan.Run, result results.Result) {
	if e.cells == nil {
		e.cells, e.datasets = map[string][]float64{}, map[string][]float64{}
	}
	seconds := result.Training.Seconds * float64(max(1, result.Machine.Threads)) / float64(result.Training.Epochs)
	e.cells[r.Cell()] = append(e.cells[r.Cell()], seconds)
	e.datasets[r.Dataset] = append(e.datasets[r.Dataset], seconds)
}

// Seconds returns what some epochs of a run take: the median of runs that differ in the seed only, else that of all runs of the dataset. It returns
// false if there are none.
func (e *Estimates) Seconds(r plan.Run, epochs int) (float64, bool) {
	known := e.cells[r.Cell()]
	if len(known) == 0 {
		known = e.datasets[r.Dataset]
	}
	if len(known) == 0 {
		return 0, false
	}
	known = slices.Sorted(slices.Values(known))
	return known[len(known)/2] * float64(epochs), true
}
