package tuning

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"tagnet/model/parallel"
)

// Search is the content of a search file, without the dataset.
type Search struct {
	// Space holds the hyperparameters to search.
	Space Space `json:"space"`
	// Candidates is the number of configurations at the first rung, the base included.
	Candidates int `json:"candidates"`
	// Rungs are the epochs to which the candidates are trained in turn, the last of them the epochs of the whole training.
	Rungs []int `json:"rungs"`
	// KeepOneIn is how many candidates there are at a rung for each that the next one trains further.
	KeepOneIn int `json:"keep_one_in"`
	// Hours bounds the time of all trainings together, so that two at a time take two hours in an hour; 0 is no bound.
	Hours float64 `json:"training_hours,omitempty"`
	// Seed decides the candidates, and is the seed of each training.
	Seed int64 `json:"seed"`
}

// Outcome is the validation MRR and the time of a training.
type Outcome struct {
	// MRR is the best pessimistic MRR on the validation split of all epochs.
	MRR float64
	// Seconds is the time of these epochs.
	Seconds float64
}

// Trainer trains candidates.
type Trainer interface {
	// Train trains a candidate up to an epoch and returns its outcome there. It continues the training of an earlier call; later epochs
	// of that do not count. atATime trainings run at the same time. A *Diverged error ends the candidate, any other error the search.
	Train(ctx context.Context, c Candidate, epochs, atATime int) (Outcome, error)
}

// Diverged is the error of a training whose loss became infinite or NaN.
type Diverged struct {
	// Reason is the last line that the training printed.
	Reason string
}

// Error returns the reason.
func (d *Diverged) Error() string { return d.Reason }

// Entry is a candidate at a rung.
type Entry struct {
	Candidate Candidate
	Outcome   Outcome
	// Diverged is why the candidate dropped out, or empty.
	Diverged string
	trained  bool
}

// Rung is a number of epochs with the candidates that were trained for so long.
type Rung struct {
	// Number counts from 1.
	Number, Epochs int
	// Entries are sorted: by the validation MRR, the best first, then those that diverged. Equal ones keep the order of the rung before, or of their numbers at the first rung.
	Entries []Entry
	// Promoted is how many entries are trained further.
	Promoted int
	// Untrained is the number of candidates for which the time did not suffice.
	Untrained int
}

// best returns the first entry, if it has been trained.
func (r Rung) best() (Entry, bool) {
	if len(r.Entries) == 0 || r.Entries[0].Diverged != "" {
		return Entry{}, false
	}
	return r.Entries[0], true
}

// Result is how a search ended.
type Result struct {
	Rungs []Rung
	// Best is the best candidate at the last of the rungs.
	Best Entry
	// Seconds is the time of all trainings.
	Seconds float64
	// Missing is the time that the search lacked to train the best candidate to the last rung, 0 if it did.
	Missing float64
}

// Run searches, training atATime candidates at the same time. It reports each rung. An error of a training, other than a *Diverged, ends the
// search after the rung.
func (s Search) Run(ctx context.Context, candidates []Candidate, t Trainer, atATime int, report func(Rung)) (Result, error) {
	var result Result
	seconds := map[int]float64{} // of each candidate's training so far
	entries := make([]Entry, len(candidates))
	for i, c := range candidates {
		entries[i].Candidate = c
	}
	for i, to := range s.Rungs {
		r := Rung{Number: i + 1, Epochs: to, Entries: entries}
		if err := s.train(ctx, &r, t, atATime); err != nil {
			return result, err
		}
		for _, e := range r.Entries {
			seconds[e.Candidate.Number] = e.Outcome.Seconds
		}
		result.Seconds = 0
		for _, of := range seconds {
			result.Seconds += of
		}
		best, ok := r.best()
		if !ok {
			return result, fmt.Errorf("no candidate is left after epoch %d: each of the trainings diverged", to)
		}
		result.Best = best
		if i+1 < len(s.Rungs) {
			r.Promoted, result.Missing = s.promote(r, result.Seconds)
		}
		result.Rungs = append(result.Rungs, r)
		report(r)
		if r.Promoted == 0 {
			break
		}
		entries = slices.Clone(r.Entries[:r.Promoted])
	}
	return result, nil
}

// train trains the candidates of a rung, and sorts them. At the first rung the time of a training is not known before: none begins
// when all of the hours are used.
func (s Search) train(ctx context.Context, r *Rung, t Trainer, atATime int) error {
	clock := &clock{most: s.Hours * 3600}
	atATime = min(atATime, len(r.Entries))
	failures := make([]error, len(r.Entries))
	parallel.Workers(atATime, len(r.Entries), func(_, i int) {
		e := &r.Entries[i]
		if ctx.Err() != nil || r.Number == 1 && clock.over() {
			return
		}
		outcome, err := t.Train(ctx, e.Candidate, r.Epochs, atATime)
		var diverged *Diverged
		switch {
		case err == nil:
			e.Outcome, e.trained = outcome, true
			clock.add(outcome.Seconds)
		case errors.As(err, &diverged):
			e.Diverged, e.trained = diverged.Reason, true
		default:
			failures[i] = fmt.Errorf("candidate %d: %w", e.Candidate.Number, err)
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := errors.Join(failures...); err != nil {
		return err
	}
	all := len(r.Entries)
	r.Entries = slices.DeleteFunc(r.Entries, func(e Entry) bool { return !e.trained })
	r.Untrained = all - len(r.Entries)
	slices.SortStableFunc(r.Entries, func(a, b Entry) int {
		diverged := func(e Entry) int { return min(1, len(e.Diverged)) }
		return cmp.Or(diverged(a)-diverged(b), cmp.Compare(b.Outcome.MRR, a.Outcome.MRR))
	})
	return nil
}

// keep returns how many of some candidates continue at the next rung.
func (s Search) keep(candidates int) int { return (candidates + s.KeepOneIn - 1) / s.KeepOneIn }

// promote returns how many of the entries of a rung are trained to the next one: one in KeepOneIn, at least one, but no more than
// leave the time to train each of them to the last rung alone, by the time that its epochs took so far. If there is none, missing is what
// the best one lacks.
func (s Search) promote(r Rung, used float64) (promoted int, missing float64) {
	next, last := s.Rungs[r.Number], s.Rungs[len(s.Rungs)-1]
	left := s.Hours*3600 - used
	wanted := s.keep(len(r.Entries) + r.Untrained)
	begun, finish := 0.0, 0.0
	for i, e := range r.Entries[:min(wanted, len(r.Entries))] {
		if e.Diverged != "" {
			break
		}
		epoch := e.Outcome.Seconds / float64(r.Epochs)
		begun += epoch * float64(next-r.Epochs)
		finish = max(finish, epoch*float64(last-next))
		if s.Hours > 0 && begun+finish > left {
			if i == 0 {
				missing = begun + finish - left
			}
			break
		}
		promoted++
	}
	return promoted, missing
}
