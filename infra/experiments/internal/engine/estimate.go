package engine

import (
	"slices"

	"tagnet/formats/results"
	"tagnet/infra/experiments/internal/plan"
)

// Estimates predicts the time of trainings, in seconds of one thread, from the time of the finished ones.
type Estimates struct {
	cells, datasets map[string][]float64 // seconds of an epoch
	observed        map[string]float64   // the same of trainings in progress, by cell and by dataset
}

// Observe adds the time of a training's epochs so far, which Seconds uses until a run of the cell, or of the dataset, is done.
func (e *Estimates) Observe(r plan.Run, t results.Training, threads int) {
	if t.Epochs == 0 {
		return
	}
	if e.observed == nil {
		e.observed = map[string]float64{}
	}
	seconds := t.Seconds * float64(max(1, threads)) / float64(t.Epochs)
	e.observed[r.Cell()], e.observed[r.Dataset] = seconds, seconds
}

// Add adds the result of a run.
func (e *Estimates) Add(r plan.Run, result results.Result) {
	if e.cells == nil {
		e.cells, e.datasets = map[string][]float64{}, map[string][]float64{}
	}
	t := result.Training
	seconds := t.Seconds * float64(max(1, result.Machine.Threads))
	if t.CPUSeconds > 0 && result.Machine.Device == "" {
		seconds = t.CPUSeconds // without the time that it waited for a core
	}
	seconds /= float64(t.Epochs)
	e.cells[r.Cell()] = append(e.cells[r.Cell()], seconds)
	e.datasets[r.Dataset] = append(e.datasets[r.Dataset], seconds)
}

// Seconds predicts the time of some epochs of a run: by the median of the runs that differ only in the seed, or else of all runs of the
// dataset. It returns false without any.
func (e *Estimates) Seconds(r plan.Run, epochs int) (float64, bool) {
	for _, of := range []struct {
		done     []float64
		observed string
	}{{e.cells[r.Cell()], r.Cell()}, {e.datasets[r.Dataset], r.Dataset}} {
		if len(of.done) > 0 {
			return slices.Sorted(slices.Values(of.done))[len(of.done)/2] * float64(epochs), true
		}
		if seconds, known := e.observed[of.observed]; known {
			return seconds * float64(epochs), true
		}
	}
	return 0, false
}
