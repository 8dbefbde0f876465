package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strconv"
	"sync"

	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/infra/experiments/internal/plan"
	"tagnet/infra/experiments/internal/tuning"
	"tagnet/model/configuration"
)

// searchFile is the content of a search file.
type searchFile struct {
	// Name is the prefix of the trainings' names, and the name of the preset file.
	Name string `json:"name"`
	// Dataset is the training data, with the preset and the flags from which the search begins.
	plan.Dataset
	// Memory is the MiB that one training may use; 0 is plan.DefaultMemory.
	Memory int `json:"memory"`
	tuning.Search
}

// readSearch reads a search file. Errors about it begin with its name, the line and the column.
func readSearch(ctx context.Context, path string) (searchFile, error) {
	var f searchFile
	text, err := storage.ReadFile(ctx, path)
	if err != nil {
		return f, err
	}
	if err := strict.Decode(path, text, &f); err != nil {
		return f, err
	}
	at, err := f.check()
	if err != nil {
		return f, strict.Mistake(path, text, err.Error(), at...)
	}
	if _, err := f.run(ctx, nil, tuning.Candidate{}); err != nil {
		return f, strict.Mistake(path, text, err.Error())
	}
	return f, nil
}

// check returns an error about a value, with the path of keys to it.
func (f searchFile) check() (at []string, err error) {
	for flag := range f.Flags {
		if _, searched := f.Space[flag]; searched {
			return []string{"flags", flag}, fmt.Errorf("%s is in space, too: leave it out of one", flag)
		}
		if flag == "epochs" {
			return []string{"flags", flag}, errors.New("epochs are those of the last rung")
		}
	}
	return f.Search.Check()
}

// run returns the training of a candidate, with the values of some hyperparameters. Its name has no epochs: each rung continues it.
func (f searchFile) run(ctx context.Context, values map[string]string, c tuning.Candidate) (plan.Run, error) {
	d := f.Dataset
	d.Flags = maps.Clone(f.Flags)
	if d.Flags == nil {
		d.Flags = map[string]plan.Value{}
	}
	for field, value := range values {
		d.Flags[field] = plan.Value(value)
	}
	e := plan.Experiment{Name: fmt.Sprintf("%s-candidate-%d", f.Name, c.Number), Datasets: []plan.Dataset{d}, Seeds: []int64{f.Seed}, Memory: f.Memory}
	runs, err := plan.File{Experiments: []plan.Experiment{e}}.Runs(ctx)
	if err != nil {
		return plan.Run{}, err
	}
	return runs[0], nil
}

// search is a session that searches.
type search struct {
	*session
	mu   sync.Mutex // of its messages
	file searchFile
	base configuration.Configuration
	// interrupted ends the search after the trainings that are running.
	interrupted context.CancelFunc
}

// tune makes a search and writes the preset file of the best candidate.
func (s *session) tune(ctx context.Context) (err error) {
	file, err := readSearch(ctx, s.search)
	if err != nil {
		return err
	}
	base, err := file.run(ctx, nil, tuning.Candidate{})
	if err != nil {
		return err
	}
	if err := checkDataset(ctx, base); err != nil {
		return err
	}
	candidates := file.Draw(base.Configuration)
	fmt.Fprintf(s.out, "%s on %s: %s\n", file.Name, base.Dataset, file.Schedule(len(candidates)))
	if len(candidates) < file.Candidates {
		fmt.Fprintf(s.out, "the space has no more than these %d of %d candidates that are valid and differ\n", len(candidates), file.Candidates)
	}
	if s.plan {
		return file.PrintCandidates(s.out, candidates)
	}
	if s.found == "" {
		s.found = filepath.Join(s.state, file.Name+".json")
	}
	if err := s.engine.Needs(base); err != nil {
		return err
	}
	release, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := s.build(ctx); err != nil {
		return err
	}
	stop, timeUp := s.stopInTime()
	defer stop()
	ctx, interrupted := context.WithCancel(ctx)
	defer interrupted()
	trainer := &search{session: s, file: file, base: base.Configuration, interrupted: interrupted}
	result, err := file.Run(ctx, candidates, trainer, min(s.cores, s.memory/base.Memory), func(r tuning.Rung) {
		fmt.Fprintln(s.out)
		file.Print(s.out, r)
	})
	if s.engine.Processes.Interrupted() && timeUp() {
		fmt.Fprintln(s.out, "the same command continues the search")
		return nil
	}
	if err != nil {
		return err
	}
	return s.writePreset(context.WithoutCancel(ctx), file, result)
}

// Train trains a candidate by the command train. It makes a search a tuning.Trainer.
func (s *search) Train(ctx context.Context, c tuning.Candidate, epochs, atATime int) (tuning.Outcome, error) {
	values := map[string]string{"epochs": strconv.Itoa(epochs)}
	for _, field := range s.file.Space.Fields() {
		if value := tuning.Value(c.Configuration, field); value != tuning.Value(s.base, field) {
			values[field] = value
		}
	}
	r, err := s.file.run(ctx, values, c)
	if err != nil {
		return tuning.Outcome{}, err
	}
	t, err := s.engine.Extend(ctx, r, max(1, s.cores/atATime), func(why string) {
		s.tell("candidate %d is being trained by another process (%s): waiting until it ends", c.Number, why)
	})
	var failure *engine.Failure
	switch {
	case s.engine.Processes.Interrupted():
		s.interrupted()
		return tuning.Outcome{}, context.Canceled
	case errors.As(err, &failure) && failure.Diverged():
		s.tell("candidate %d drops out: %s (log: %s)", c.Number, failure.Line, failure.Log)
		return tuning.Outcome{}, &tuning.Diverged{Reason: failure.Line}
	case err != nil:
		s.tell("candidate %d: failed", c.Number)
		return tuning.Outcome{}, err
	}
	o := tuning.Outcome{Seconds: t.Seconds}
	validated := false
	for _, e := range t.Curve {
		if e.Valid != nil {
			o.MRR, validated = max(o.MRR, e.Valid.MRR), true
		}
	}
	if !validated {
		return o, fmt.Errorf("%s has no validation queries to decide by", r.Dataset)
	}
	s.tell("candidate %d, epoch %d: validation MRR %.4f, %s", c.Number, epochs, o.MRR, duration(o.Seconds))
	return o, nil
}

// tell prints a line about a training.
func (s *search) tell(format string, arguments ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.diagnostics, format+"\n", arguments...)
}

// writePreset writes the preset file of the best candidate, and prints what it is.
func (s *session) writePreset(ctx context.Context, f searchFile, r tuning.Result) error {
	o := tuning.Origin{Name: f.Name, Dataset: f.Dataset.Dataset, Inference: f.Inference, Flags: map[string]string{}}
	if !configuration.IsPresetFile(f.Preset) {
		o.Preset = f.Preset
	}
	for flag, value := range f.Flags {
		o.Flags[flag] = string(value)
	}
	text, err := f.PresetFile(o, r)
	if err != nil {
		return err
	}
	if err := storage.WriteFile(ctx, s.found, text); err != nil {
		return fmt.Errorf("writing --found %s: %w", s.found, err)
	}
	reached := r.Rungs[len(r.Rungs)-1].Epochs
	fmt.Fprintf(s.out, "\nbest: candidate %d, validation MRR %.4f by epoch %d, after %s of training in all\n", r.Best.Candidate.Number, r.Best.Outcome.MRR, reached, duration(r.Seconds))
	if r.Missing > 0 {
		fmt.Fprintf(s.out, "the %g training_hours do not suffice to train it to epoch %d: with %s more of them the same command does\n", f.Hours, f.Rungs[len(f.Rungs)-1], duration(r.Missing))
	}
	fmt.Fprintf(s.out, "wrote %s\n", s.found)
	dataset := []string{"--dataset", f.Dataset.Dataset}
	if f.Inference != "" {
		dataset = append(dataset, "--inference", f.Inference)
	}
	fmt.Fprintf(s.out, "next: go run ./infra/experiments %s --preset %s --name %s --seeds 1..3 --state %s\n",
		names.CommandLine(dataset...), names.Quote(s.found), f.Name, names.Quote(s.state))
	return nil
}
