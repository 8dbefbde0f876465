package model

import (
	"context"
	"fmt"

	"tagnet/model/accelerator"
	"tagnet/model/answer"
	"tagnet/model/graph/kg"
	"tagnet/model/learn"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/configuration"
)

// Epoch is how one epoch of Train went.
type Epoch struct {
	// Epoch counts from 1.
	Epoch int
	// Loss is the mean loss of the epoch's queries, Messages the number of messages that propagation sent.
	Loss     float64
	Messages int64
}

// Train trains a model on the training facts, for all epochs of c, and returns it with the weights of the last
// epoch; unlike the pipeline train it neither validates nor writes checkpoints. Each training fact gives the
// queries of both directions. Equal facts, configuration, seed and kernel give equal weights, the same as the
// pipeline. after, which may be nil, is called after each epoch. Train stops between steps when ctx is done.
func Train(ctx context.Context, facts Facts, c configuration.Configuration, seed int64, after func(Epoch), list ...Option) (*Model, error) {
	fail := func(err error) (*Model, error) { return nil, fmt.Errorf("training a model: %w", err) }
	o, err := newOptions(list)
	if err != nil {
		return fail(err)
	}
	if err := c.Validate(); err != nil {
		return fail(err)
	}
	// The inputs, as from files of a workspace.
	knowledge, err := kg.New(facts.Train, facts.Valid, facts.Test)
	if err != nil {
		return fail(err)
	}
	data, err := learn.NewData(ctx, knowledge)
	if err != nil {
		return fail(err)
	}
	data.Devices = accelerator.Process
	run := learn.Run{Configuration: c, Seed: seed, Threads: o.resources.Threads, Kernel: o.kernel, Device: o.choice}
	trained, err := learn.InMemory(ctx, run, data, func(p learn.Progress) {
		if p.Finished != nil && after != nil {
			after(Epoch{Epoch: p.Finished.Epoch, Loss: p.Finished.Loss, Messages: p.Finished.Messages})
		}
	})
	if err != nil {
		return fail(err)
	}
	// The model over the same graph.
	m, err := o.over(ctx, answer.New(knowledge, trained.Record, trained.Weights, o.resources))
	if err != nil {
		return fail(err)
	}
	m.trained = trained
	return m, nil
}

// Save writes the checkpoint of a model that Train returned into a folder, a path or URL, which Load reads with
// the path folder/best. Checkpoints of other models are files already, and Save returns an error for them.
func (m *Model) Save(ctx context.Context, folder string) error {
	if m.trained == nil {
		return fmt.Errorf("saving a model into %s: it was not made by Train; copy the files of its checkpoint instead", folder)
	}
	if err := m.trained.Save(ctx, checkpoint.Folder(folder)); err != nil {
		return fmt.Errorf("saving a model: %w", err)
	}
	return nil
}
