package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"tagnet/formats/metrics"
	"tagnet/model/accelerator"
	"tagnet/model/checkpoint"
	"tagnet/model/device"
	"tagnet/model/evaluation"
	"tagnet/model/kernel"
	"tagnet/model/ranker"
	"tagnet/model/ranking"
	"tagnet/model/training"
	"tagnet/model/workload"
	"tagnet/stages/graph"
)

// trained is what a run trained.
type trained struct {
	Seconds  float64 `json:"seconds"`
	Complete bool    `json:"complete"`
	// Epoch and Loss are the position at the end.
	Epoch int     `json:"epoch"`
	Loss  float64 `json:"loss"`
}

// scored is what the last checkpoint or the best one scores.
type scored struct {
	metrics.Evaluation
	Seconds float64 `json:"seconds"`
}

// errTime ends a training whose time is over.
var errTime = errors.New("the time is over")

// train trains until all epochs are finished or the time is over, and packs each checkpoint.
func (k *kit) train(ctx context.Context) error {
	work, err := os.MkdirTemp("", "tagnet-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	t := &trainer{
		kit: k, folder: checkpoint.Folder(filepath.Join(work, checkpoint.FolderName)), history: filepath.Join(work, historyFile),
		to: archive{k.out, largestPart},
	}
	if k.resume != "" {
		if err := (archive{folder: k.resume}).unpack(ctx, t.folder, t.history); err != nil {
			return err
		}
	}
	complete := false
	if !k.skipTraining {
		if complete, err = t.run(ctx); err != nil {
			return err
		}
	}
	if complete && k.split == "" {
		k.split = "test"
	}
	if k.split == "" {
		return nil
	}
	return t.score(context.WithoutCancel(ctx))
}

// trainer is the part of a run that trains.
type trainer struct {
	*kit
	folder  checkpoint.Folder
	history string
	to      archive
	packed  string // name of the checkpoint in the archive
	begun   time.Time
	said    time.Time
	last    training.Progress
	failure error // of packing
	cancel  context.CancelCauseFunc
}

func (t *trainer) run(ctx context.Context) (complete bool, err error) {
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t.cancel, t.begun, t.said = cancel, t.clock.now(), t.clock.now()
	record, err := training.Train(inner, training.Run{
		Checkpoints: string(t.folder), History: t.history,
		Configuration: t.configuration, Seed: t.seed, Validation: metrics.Validation{Every: 1},
		Every:  time.Duration(t.checkpointMinutes * float64(time.Minute)),
		Device: device.Choice{Mode: device.CUDA},
	}, t.data, t.update)
	complete = err == nil && record.Epoch == t.configuration.Epochs && record.Partial == nil
	if err != nil && !errors.Is(err, errTime) && !errors.Is(err, context.Canceled) {
		return false, err
	}
	if t.failure != nil {
		return false, t.failure
	}
	if err := t.pack(context.WithoutCancel(ctx)); err != nil {
		return false, err
	}
	p := &trained{Seconds: t.clock.now().Sub(t.begun).Seconds(), Complete: complete, Epoch: t.last.Epoch, Loss: t.last.Loss}
	t.measured.Trained = p
	t.print("trained up to %s in %.1fs, after %.1fs", t.packed, p.Seconds, t.clock.spent().Seconds())
	return complete, ctx.Err()
}

// update shows the progress, packs a new checkpoint, and ends a training whose time is over.
func (t *trainer) update(p training.Progress) {
	t.last = p
	switch {
	case p.Resumed != "":
		t.print("resuming from %s", p.Resumed)
	case p.Notice != "":
		t.print("%s", p.Notice)
	case p.Finished != nil:
		t.epoch(p)
	case t.clock.now().Sub(t.said) >= 15*time.Second:
		t.said = t.clock.now()
		if p.Validated > 0 {
			t.print("epoch %d of %d: validating %d%%", p.Epoch, p.Epochs, 100*p.Validated/max(1, p.Validations))
		} else {
			t.print("epoch %d of %d: %d%%, loss %.4f, after %.1fs", p.Epoch, p.Epochs, 100*p.Queries/max(1, p.Facts), p.Loss, t.clock.spent().Seconds())
		}
	}
	if p.Checkpoint != t.packed && p.Checkpoint != "" && t.failure == nil {
		if t.failure = t.pack(context.Background()); t.failure != nil {
			t.cancel(t.failure)
		}
	}
	if !t.clock.left(reserve(t.split != "")) {
		t.cancel(errTime)
	}
}

// epoch shows and records a finished epoch.
func (t *trainer) epoch(p training.Progress) {
	e := p.Finished
	t.measured.Epochs = append(t.measured.Epochs, *e)
	if e.Valid == nil {
		t.print("epoch %d of %d: loss %.4f, %.1fs", e.Epoch, p.Epochs, e.Loss, e.Seconds)
	} else {
		s := e.Valid.Selection()
		t.print("epoch %d of %d: loss %.4f, validation MRR %.4f, Hits@1 %.4f, Hits@10 %.4f, %.1fs", e.Epoch, p.Epochs, e.Loss, s.MRR, s.Hits1, s.Hits10, e.Seconds)
	}
	if err := t.writeMeasured(context.Background()); err != nil && t.failure == nil {
		t.failure = err
		t.cancel(err)
	}
}

// pack replaces the checkpoint in the output folder by the newest.
func (t *trainer) pack(ctx context.Context) error {
	name, err := t.to.pack(ctx, t.folder, t.history)
	if err == nil {
		t.packed = name
	}
	return err
}

// score scores with the best checkpoint, or with the last one before an epoch is finished.
func (t *trainer) score(ctx context.Context) error {
	name := "best"
	if _, err := t.folder.Best(ctx); errors.Is(err, checkpoint.ErrNone) {
		name = "last"
	}
	return t.scoreCheckpoint(ctx, t.folder, name)
}

// scoreCheckpoint scores a split with a checkpoint.
func (k *kit) scoreCheckpoint(ctx context.Context, folder checkpoint.Folder, name string) error {
	loaded, err := graph.Load(ctx, k.graph())
	if err != nil {
		return err
	}
	record, weights, err := folder.Model(ctx, name, loaded.Relations, loaded.Vocabularies()...)
	if err != nil {
		return err
	}
	view := loaded.Train
	if k.split == "test" {
		view = loaded.Inference
	}
	selection, err := accelerator.Select(k.data.Devices, device.Choice{Mode: device.CUDA}, record.Configuration)
	if err != nil {
		return err
	}
	queries, err := workload.List(ctx, loaded, workload.Params{Split: k.split})
	if err != nil {
		return err
	}
	begun := k.clock.now()
	model := ranker.Model{Graph: view.Graph, Configuration: record.Configuration, Parameters: weights}
	r, err := ranker.New(model, ranking.Selection{}, ranker.Means{Kernel: kernel.Available()[0], Threads: 1, Device: &selection})
	if err != nil {
		return err
	}
	results, err := r.Rank(ctx, &ranker.Bundle{Queries: queries}, nil)
	if err := errors.Join(err, r.Close()); err != nil {
		return err
	}
	gatherer := evaluation.NewGatherer()
	gatherer.Add(results, loaded.Relations)
	s := &scored{gatherer.Metrics(k.split, record.Name()), k.clock.now().Sub(begun).Seconds()}
	k.measured.Scored = s
	p := s.Pessimistic
	k.print("%s of %s: MRR %.4f, mean rank %.1f, Hits@1 %.4f, Hits@3 %.4f, Hits@10 %.4f over %d queries (pessimistic ranks), %.1fs",
		s.Split, s.Checkpoint, p.MRR, p.MeanRank, p.Hits1, p.Hits3, p.Hits10, s.Queries, s.Seconds)
	return nil
}
