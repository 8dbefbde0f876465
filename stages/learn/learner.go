package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"time"

	"tagnet/formats/lock"
	"tagnet/formats/safetensors"
	"tagnet/formats/storage"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/graph"
	"tagnet/model/inference"
	"tagnet/model/kernel"
	"tagnet/model/optimizer"
	"tagnet/model/parameters"
	"tagnet/stages/bundle"
	"tagnet/stages/evaluate"
	"tagnet/stages/score"
)

// Run is what decides how a training goes, beside its data.
type Run struct {
	// Checkpoints is the folder of checkpoints, History the file training.jsonl.
	Checkpoints, History string
	// Lock is that of the folder. It is checked before anything is written there, so that two
	// trainings never mix their checkpoints. The zero Lock is never checked.
	Lock          lock.Lock
	Configuration configuration.Configuration
	Seed          int64
	Validation    checkpoint.Validation
	// Every is the longest time between checkpoints.
	Every time.Duration
	// Replicas is the number of threads; if 0 one a core, MostReplicas at most (unless that is
	// 0). It changes no bit of what is learned.
	Replicas, MostReplicas int
	// Memory is the budget of the process in bytes, to which it holds its garbage; 0 for none.
	Memory int64
	// Kernel names the variant of the kernels; see kernel.Named.
	Kernel string
}

// Data is what a training reads.
type Data struct {
	Graph      *graph.Graph
	Vocabulary checkpoint.Vocabulary
	Deck       *Deck
	// Valid are the bundles of the validation queries; none where there are no such queries.
	Valid []*bundle.Bundle
}

// learner is a training that is under way.
type learner struct {
	Run
	Data
	folder     checkpoint.Folder
	kernel     kernel.Kernel
	parameters *parameters.Set[float32]
	solver     *optimizer.Adam
	trainer    *optimizer.Trainer
	history    []Epoch
	tell       func(Progress)

	record     checkpoint.Record // of the newest checkpoint; Epoch 0 before the first
	epoch      int               // under way
	partial    checkpoint.Partial
	saved      time.Time // when the newest checkpoint was written
	begun      time.Time // when the epoch would have begun without interruptions
	validQuery int64
}

// Train trains until all epochs are done, from the newest whole checkpoint of the folder, or
// from fresh weights where there is none. It returns the record of the last epoch. tell,
// which may be nil, hears of each step.
//
// Whatever process trains, in whatever pieces, equal data, configuration, seed, validation and
// kernel give equal checkpoints. Where ctx is cancelled, a last checkpoint is written.
func Train(ctx context.Context, run Run, data Data, tell func(Progress)) (checkpoint.Record, error) {
	if tell == nil {
		tell = func(Progress) {}
	}
	l := &learner{Run: run, Data: data, folder: checkpoint.Folder(run.Checkpoints), tell: tell}
	if err := l.prepare(ctx); err != nil {
		return checkpoint.Record{}, err
	}
	for l.epoch <= l.Configuration.Epochs {
		err := l.trainEpoch(ctx)
		if err == nil {
			err = l.finishEpoch(ctx)
		}
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			err = l.stop(ctx)
		}
		if err != nil {
			return checkpoint.Record{}, err
		}
	}
	return l.record, nil
}

// prepare makes weights, solver and trainer, fresh or from the newest checkpoint.
func (l *learner) prepare(ctx context.Context) error {
	err := l.Lock.Check(ctx)
	if err != nil {
		return err
	}
	if l.kernel, err = kernel.Named(l.Kernel); err != nil {
		return err
	}
	if l.Replicas <= 0 {
		l.Replicas = runtime.GOMAXPROCS(0)
		if l.MostReplicas > 0 {
			l.Replicas = min(l.Replicas, l.MostReplicas)
		}
	}
	c := l.Configuration
	layout := parameters.Layout(c, l.Graph.RelationCount())
	l.parameters = parameters.Initialize(layout, optimizer.WeightsSeed(uint64(l.Seed)))
	l.solver = optimizer.NewAdam(layout, c.LearningRate, c.WeightDecay, l.kernel)
	l.epoch = 1
	if err := l.resume(ctx); err != nil {
		return err
	}
	if err := l.makeTrainer(); err != nil {
		return err
	}
	l.saved = time.Now()
	l.begun = l.saved.Add(-time.Duration(l.partial.Seconds * float64(time.Second)))
	for _, b := range l.Valid {
		l.validQuery += b.Queries()
	}
	return nil
}

// makeTrainer makes the trainer where there is none: validation takes its memory.
func (l *learner) makeTrainer() error {
	if l.trainer != nil {
		return nil
	}
	var err error
	if l.trainer, err = optimizer.New(l.Graph, l.Configuration, l.parameters, l.solver, l.Replicas, l.kernel); err != nil {
		return fmt.Errorf("preparing to train: %w", err)
	}
	return nil
}

// resume takes over the newest whole checkpoint, if there is one, and removes what is farther.
func (l *learner) resume(ctx context.Context) error {
	state, damaged, err := l.folder.Newest(ctx)
	var all *checkpoint.DamagedError
	switch {
	case errors.Is(err, checkpoint.ErrNone):
		return storage.Remove(ctx, l.History) // of a run whose checkpoints are gone
	case errors.As(err, &all):
		return fmt.Errorf("%w: --force trains from the beginning", err)
	case err != nil:
		return err
	}
	r := state.Record
	if err := l.sameRun(r); err != nil {
		return err
	}
	if err := checkpoint.Fill(l.parameters, state.Weights); err != nil {
		return fmt.Errorf("%s of %s: %w", r.Name(), l.folder, err)
	}
	if err := l.solver.Restore(tensors(state.Optimizer), r.Step); err != nil {
		return fmt.Errorf("%s of %s: %w", r.Name(), l.folder, err)
	}
	if err := l.folder.RemoveAfter(ctx, r); err != nil {
		return err
	}
	if err := l.folder.Prune(ctx); err != nil { // the run may have ended between a save and its tidying
		return err
	}
	l.record, l.epoch = r, r.Epoch+1
	if r.Partial != nil {
		l.epoch, l.partial = r.Epoch, *r.Partial
	} else if err := l.folder.MarkBest(ctx); err != nil { // it may name an epoch that is gone
		return err
	}
	history, err := ReadHistory(ctx, l.History)
	if err != nil {
		return err
	}
	for _, e := range history {
		if e.Epoch < l.epoch {
			l.history = append(l.history, e)
		}
	}
	p := l.progress(0)
	p.Resumed = r.Name()
	if n := len(l.history); n > 0 && l.history[n-1].Kernel != l.kernel.Name() {
		p.OtherKernel = l.history[n-1].Kernel
	}
	for _, d := range damaged {
		p.Damaged = append(p.Damaged, d.Error())
	}
	l.tell(p)
	return nil
}

// sameRun returns an error unless the record is of this run.
func (l *learner) sameRun(r checkpoint.Record) error {
	c := r.Configuration
	c.Epochs = l.Configuration.Epochs // more epochs than planned at first are welcome
	if c != l.Configuration || r.Seed != l.Seed || r.Validation != l.Validation ||
		r.Vocabulary.Hash != l.Vocabulary.Hash || r.Vocabulary.Graph != l.Vocabulary.Graph {
		return fmt.Errorf("%s of %s belongs to a run with another configuration, seed or graph", r.Name(), l.folder)
	}
	if r.Epoch > l.Configuration.Epochs {
		return fmt.Errorf("%s of %s is past the %d epochs asked for", r.Name(), l.folder, l.Configuration.Epochs)
	}
	return nil
}

// trainEpoch makes the epoch's steps that are still to be made.
func (l *learner) trainEpoch(ctx context.Context) error {
	if err := l.makeTrainer(); err != nil {
		return err
	}
	l.solver.LearningRate = l.learningRate()
	batches := optimizer.Schedule(l.Deck.Facts(), l.Configuration, uint64(l.Seed), l.epoch)
	var examples []optimizer.Example
	for l.partial.Step < len(batches) {
		if err := ctx.Err(); err != nil {
			return err
		}
		draws := batches[l.partial.Step]
		examples = l.Deck.Examples(draws, uint64(l.Seed), l.epoch, examples)
		seed := optimizer.StepSeed(uint64(l.Seed), l.epoch, l.partial.Step)
		result, err := l.trainer.Step(examples, seed)
		if err == nil && (math.IsNaN(result.Loss) || math.IsInf(result.Loss, 0)) {
			err = fmt.Errorf("the loss is %v", result.Loss)
		}
		if err != nil {
			return fmt.Errorf("epoch %d, step %d of %d: %w; %s", l.epoch, l.partial.Step+1, len(batches), err, l.whatRemains(err))
		}
		l.partial.Step++
		l.partial.Loss += result.Loss * float64(len(draws))
		l.partial.Queries += int64(len(draws))
		l.partial.Messages += result.Messages
		l.tell(l.progress(0))
		if time.Since(l.saved) >= l.Every {
			if err := l.savePartial(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// stop saves what was learned since the last checkpoint, of an epoch that is not finished or not
// validated, and returns why the training stops.
func (l *learner) stop(ctx context.Context) error {
	if l.solver.Steps() > l.record.Step {
		if err := l.savePartial(context.WithoutCancel(ctx)); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

func (l *learner) learningRate() float64 { return optimizer.LearningRate(l.Configuration, l.epoch) }

// whatRemains says what may help against an error, and which checkpoint is left.
func (l *learner) whatRemains(err error) string {
	remedy := fmt.Sprintf("try a lower --learning_rate: this epoch's is %g", l.learningRate())
	if errors.Is(err, optimizer.ErrNoNegatives) {
		remedy = "--strict_negatives=false draws known answers too, or leave the fact out"
	}
	if l.record.Epoch == 0 {
		return remedy + "; no checkpoint was written yet"
	}
	return fmt.Sprintf("%s; the last good checkpoint, %s, is kept", remedy, l.record.Name())
}

// finishEpoch validates, and writes the line of training.jsonl and the epoch's checkpoint. The
// line comes first: one too many is dropped when the run goes on, one too few could not be
// made up for.
func (l *learner) finishEpoch(ctx context.Context) error {
	if time.Since(l.saved) >= min(l.Every, time.Minute) {
		if err := l.savePartial(ctx); err != nil { // validation may take long
			return err
		}
	}
	valid, err := l.validate(ctx)
	if err != nil {
		return err
	}
	r := l.newRecord()
	r.Loss = l.partial.Loss / float64(l.partial.Queries)
	r.Messages = l.partial.Messages
	r.LearningRate = l.learningRate()
	r.Valid = valid
	line := Epoch{
		Epoch: l.epoch, Loss: r.Loss, Valid: valid, LearningRate: r.LearningRate,
		Seconds: time.Since(l.begun).Seconds(),
		Queries: l.partial.Queries, Messages: r.Messages, Steps: r.Step, Kernel: l.kernel.Name(),
	}
	l.history = append(l.history, line)
	if err := l.Lock.Check(ctx); err != nil {
		return err
	}
	if err := writeHistory(ctx, l.History, l.history); err != nil {
		return err
	}
	if err := l.save(ctx, r); err != nil {
		return err
	}
	if err := l.folder.MarkBest(ctx); err != nil {
		return err
	}
	if err := l.folder.Prune(ctx); err != nil {
		return err
	}
	p := l.progress(0)
	p.Finished = &line
	l.tell(p)
	l.epoch++
	l.partial = checkpoint.Partial{}
	l.begun = time.Now()
	return nil
}

func (l *learner) savePartial(ctx context.Context) error {
	r := l.newRecord()
	partial := l.partial
	partial.Seconds = time.Since(l.begun).Seconds()
	r.Partial = &partial
	if err := l.save(ctx, r); err != nil {
		return err
	}
	return l.folder.Prune(ctx)
}

func (l *learner) newRecord() checkpoint.Record {
	return checkpoint.Record{
		FormatVersion: checkpoint.FormatVersion,
		Configuration: l.Configuration, Seed: l.Seed, Validation: l.Validation,
		Epoch: l.epoch, Step: l.solver.Steps(), Vocabulary: l.Vocabulary,
	}
}

func (l *learner) save(ctx context.Context, r checkpoint.Record) error {
	if err := l.Lock.Check(ctx); err != nil {
		return err
	}
	optimizer, _ := l.solver.State()
	if err := l.folder.Save(ctx, r, checkpoint.Tensors(l.parameters.Tensors), checkpoint.Tensors(optimizer)); err != nil {
		return fmt.Errorf("saving a checkpoint: %w", err)
	}
	l.record, l.saved = r, time.Now()
	return nil
}

// validate asks the validation queries, if this is an epoch for it.
func (l *learner) validate(ctx context.Context) (*checkpoint.Valid, error) {
	due := l.epoch%max(1, l.Validation.Every) == 0 || l.epoch == l.Configuration.Epochs
	if !due || l.validQuery == 0 {
		return nil, nil
	}
	l.trainer = nil // its weights and moments stay, its buffers make room
	scorer, err := inference.New(l.Graph, l.Configuration, l.parameters, l.kernel)
	if err != nil {
		return nil, fmt.Errorf("validating epoch %d: %w", l.epoch, err)
	}
	workers := make([]score.Worker, l.Replicas)
	for i := range workers {
		workers[i] = scorer.Worker()
	}
	ranker, err := score.NewRanker(l.Graph.Entities, l.Graph.RelationCount(), 0, workers)
	if err != nil {
		return nil, err
	}
	gatherer := evaluate.NewGatherer(l.Vocabulary.Relations)
	done := newCount(func(n int64) { l.tell(l.progress(n)) })
	for _, b := range l.Valid {
		scored, err := ranker.Rank(ctx, b, done.add)
		if err != nil {
			return nil, fmt.Errorf("validating epoch %d: %w; %s", l.epoch, err, l.whatRemains(err))
		}
		gatherer.Add(scored)
	}
	s := gatherer.Summary()
	return &checkpoint.Valid{
		Queries: s.Queries, Tied: s.Tied, Pessimistic: s.Pessimistic, Mean: s.Mean, Optimistic: s.Optimistic,
	}, nil
}

func tensors(stored []safetensors.Tensor) []parameters.Tensor[float32] {
	out := make([]parameters.Tensor[float32], len(stored))
	for i, t := range stored {
		out[i] = parameters.Tensor[float32]{Name: t.Name, Shape: t.Shape, Data: t.Data}
	}
	return out
}
