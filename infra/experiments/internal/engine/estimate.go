package engine

import (
	"slices"

	"tagnet/formats/results"
	"tagnet/infra/experiments/internal/plan"
)

// Estimates predicts the time of trainings, in seconds of one thread, from the time of the finished ones.
type Estimates struct {
	done     map[string][]float64 // seconds of an epoch, by cell and by kind
	observed map[string]float64   // the same of trainings in progress
}

// kind names the runs that take about as long as a run: those of its dataset with its policy.
func kind(r plan.Run) string { return r.Dataset + " " + r.Configuration.Policy }

// Observe adds the time of a training's epochs so far, which Seconds uses until a run of the cell, or of the kind, is done.
func (e *Estimates) Observe(r plan.Run, t results.Training, threads int) {
	if t.Epochs == 0 {
		return
	}
	if e.observed == nil {
		e.observed = map[string]float64{}
	}
	seconds := t.Seconds * float64(max(1, threads)) / float64(t.Epochs)
	e.observed[r.Cell()], e.observed[kind(r)] = seconds, seconds
}

// Add adds the result of a run.
func (e *Estimates) Add(r plan.Run, result results.Result) {
	if e.done == nil {
		e.done = map[string][]float64{}
	}
	t := result.Training
	seconds := t.Seconds * float64(max(1, result.Machine.Threads))
	if t.CPUSeconds > 0 && result.Machine.Device == "" {
		seconds = t.CPUSeconds // without the time that it waited for a core
	}
	seconds /= float64(t.Epochs)
	for _, of := range []string{r.Cell(), kind(r)} {
		e.done[of] = append(e.done[of], seconds)
	}
}

// Seconds predicts the time of some epochs of a run: by the median of the runs that differ only in the seed, or else of all runs of the
// dataset with the same policy. It returns false without any.
func (e *Estimates) Seconds(r plan.Run, epochs int) (float64, bool) {
	for _, of := range []string{r.Cell(), kind(r)} {
		if done := e.done[of]; len(done) > 0 {
			return slices.Sorted(slices.Values(done))[len(done)/2] * float64(epochs), true
		}
		if seconds, known := e.observed[of]; known {
			return seconds * float64(epochs), true
		}
	}
	return 0, false
}
