package learn

import (
	"context"
	"math"

	"tagnet/formats/workspace/safetensors"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/parameters"
)

// Trained is a model after its last epoch.
type Trained struct {
	// Record is the record of its checkpoint.
	Record checkpoint.Record
	// Weights are the weights that its checkpoint publishes.
	Weights *parameters.Set[float32]
	state   []safetensors.Tensor[float32]
}

// inMemory returns the run without files.
func (r Run) inMemory() Run {
	r.Checkpoints, r.History, r.Every = "", "", math.MaxInt64
	return r
}

// InMemory trains a model without files: it starts from initial weights and writes no checkpoint. When ctx is done it
// stops between steps and returns the cause.
func InMemory(ctx context.Context, run Run, data Data, report func(Progress)) (*Trained, error) {
	l := newLearner(run.inMemory(), data, report)
	if err := l.run(ctx); err != nil {
		return nil, err
	}
	_, state := l.stored()
	if l.average != nil {
		return &Trained{l.record, l.average, state}, nil
	}
	return &Trained{l.record, l.parameters, state}, nil
}

// Save writes the model's checkpoint into a folder, and marks it as the best one.
func (t *Trained) Save(ctx context.Context, folder checkpoint.Folder) error {
	if err := folder.Save(ctx, t.Record, t.Weights.Tensors, t.state); err != nil {
		return err
	}
	return folder.MarkBest(ctx)
}
