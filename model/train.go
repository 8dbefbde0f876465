package model

import (
	"context"
	"errors"
	"fmt"

	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/kernel"
	"tagnet/model/kg"
	"tagnet/model/optimizer"
	"tagnet/model/parameters"
)

// Epoch is how one epoch of Train went.
type Epoch struct {
	// Epoch counts from 1.
	Epoch int
	// Loss is the mean loss of the epoch's queries, Messages the number of messages that propagation sent.
	Loss     float64
	Messages int64
}

// training is what a checkpoint needs beside the record.
type training struct {
	weights *parameters.Set[float32]
	solver  *optimizer.Adam
}

// Train trains a model on the training facts, for all epochs of c, and returns it with the weights of the last
// epoch; unlike the pipeline train it neither validates nor writes checkpoints. Each training fact gives the
// queries of both directions. Equal facts, configuration, seed and kernel give equal weights, those of the
// pipeline. after, which may be nil, is called after each epoch. Train stops between steps when ctx is done.
func Train(ctx context.Context, facts Facts, c configuration.Configuration, seed int64, after func(Epoch), list ...Option) (*Model, error) {
	fail := func(err error) (*Model, error) { return nil, fmt.Errorf("training a model: %w", err) }
	o, err := newOptions(list)
	if err != nil {
		return fail(err)
	}
	if o.baseRate != 0 {
		return fail(fmt.Errorf("a base rate of %g: Train makes no calibration", o.baseRate))
	}
	if err := c.Validate(); err != nil {
		return fail(err)
	}
	if c.ULTRA() {
		return fail(errors.New("ULTRA's weights are trained further by the pipeline train, with --from, and not here"))
	}
	k, err := kernel.Named(o.kernel)
	if err != nil {
		return fail(err)
	}
	knowledge, err := kg.New(facts.Train, facts.Valid, facts.Test)
	if err != nil {
		return fail(err)
	}
	set, err := optimizer.NewTrainingSet(ctx, knowledge)
	if err != nil {
		return fail(err)
	}
	g := knowledge.Train.Graph
	layout := parameters.Layout(c, g.RelationCount())
	t := &training{
		weights: parameters.Initialize(layout, optimizer.WeightsSeed(uint64(seed))),
		solver:  optimizer.NewSolver(c, g.RelationCount(), k),
	}
	trainer, err := optimizer.New(g, c, t.weights, t.solver, o.workers, k)
	if err != nil {
		return fail(err)
	}
	record := checkpoint.Record{
		FormatVersion: checkpoint.FormatVersion, Configuration: c, Seed: seed,
		Vocabulary: checkpoint.Vocabulary{
			Relations: knowledge.Relations, Entities: g.Entities, Hash: knowledge.Vocabulary,
		},
	}
	for epoch := 1; epoch <= c.Epochs; epoch++ {
		t.solver.LearningRate = optimizer.LearningRate(c, epoch)
		e, err := trainEpoch(ctx, set, trainer, c, uint64(seed), epoch)
		if err != nil {
			return fail(err)
		}
		record.Epoch, record.Step, record.LearningRate = epoch, t.solver.Steps(), t.solver.LearningRate
		record.Loss, record.Messages = e.Loss, e.Messages
		if after != nil {
			after(e)
		}
	}
	m, err := newModel(ctx, knowledge, record, t.weights, o)
	if err != nil {
		return fail(err)
	}
	m.training = t
	return m, nil
}

// trainEpoch makes the steps of one epoch.
func trainEpoch(ctx context.Context, set optimizer.TrainingSet, trainer *optimizer.Trainer, c configuration.Configuration, seed uint64, epoch int) (Epoch, error) {
	result := Epoch{Epoch: epoch}
	var examples []optimizer.Example
	for step, draws := range optimizer.Schedule(set.Facts, c, seed, epoch) {
		if err := ctx.Err(); err != nil {
			return Epoch{}, context.Cause(ctx)
		}
		examples = set.Examples(draws, seed, epoch, examples)
		r, err := trainer.Step(examples, optimizer.StepSeed(seed, epoch, step))
		if err != nil {
			return Epoch{}, fmt.Errorf("epoch %d, step %d: %w", epoch, step+1, err)
		}
		result.Loss += r.Loss * float64(len(draws))
		result.Messages += r.Messages
	}
	result.Loss /= float64(len(set.Facts))
	return result, nil
}

// Save writes the checkpoint of a model that Train returned into a folder, a path or URL, which Load reads with
// the path folder/best. Checkpoints of other models are files already, and Save returns an error for them.
func (m *Model) Save(ctx context.Context, folder string) error {
	if m.training == nil {
		return fmt.Errorf("saving a model into %s: it was not made by Train; copy the files of its checkpoint instead", folder)
	}
	moments, _ := m.training.solver.State()
	f := checkpoint.Folder(folder)
	if err := f.Save(ctx, m.record, checkpoint.Tensors(m.training.weights.Tensors), checkpoint.Tensors(moments)); err != nil {
		return fmt.Errorf("saving a model: %w", err)
	}
	if err := f.MarkBest(ctx); err != nil {
		return fmt.Errorf("saving a model: %w", err)
	}
	return nil
}
