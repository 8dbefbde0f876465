package train

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/accelerator"
	"tagnet/model/budget"
	"tagnet/model/engine/kernel"
	"tagnet/model/gpu"
	"tagnet/model/gpu/cuda"
	"tagnet/model/learn"
	"tagnet/model/steps"
	"tagnet/model/weights/checkpoint"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/train"
)

func init() { accelerator.Register(gpu.Driver(cuda.Open)) } // the devices of --device

// run trains a model, or resumes a training, and fits its probabilities.
func (f *flags) run(ctx context.Context, e *command.Environment) error {
	d, err := f.decide(ctx, e)
	if err != nil {
		return err
	}
	defer budget.Limit(f.Memory * budget.MiB)()
	before := 0
	switch d.step {
	case complete:
		e.Say("%s is complete with the same configuration; use --force to train again, or --resume --minutes M to train for longer", d.folder)
		return d.summarize(ctx, false, 0)
	case fitOnly:
		if _, err = d.planWith(ctx, d.e, d.wantedSettings); err == nil { // the device and the memory are enough
			err = d.fit.Ready(d.e.Ready(d.fit.Work()))(ctx)
		}
	default:
		before, err = d.train(ctx)
	}
	if err != nil {
		return err
	}
	if err := d.makeFit(ctx); err != nil {
		return err
	}
	return d.summarize(ctx, true, before)
}

// train plans the training and makes it. It returns the number of epochs before those of --resume --minutes, or 0.
func (d *decision) train(ctx context.Context) (before int, err error) {
	p, err := d.plan(ctx)
	if err != nil {
		return 0, err
	}
	t := &training{plan: p, output: d.output()}
	cost, err := p.cost(ctx)
	if err != nil {
		return 0, err
	}
	t.output.Ready = d.e.Ready(p.work(ctx, cost))
	return p.before, t.makeCheckpoints(ctx)
}

// training is one that is made, in the folder of checkpoints.
type training struct {
	*plan
	output *workspace.Output
}

// makeCheckpoints trains, and publishes the checkpoints.
func (t *training) makeCheckpoints(ctx context.Context) error {
	if err := t.prepare(ctx); err != nil {
		return err
	}
	return command.FillFolder(ctx, t.output, func() (map[string]int64, error) {
		if err := t.train(ctx); err != nil {
			return nil, err
		}
		return t.completed(ctx)
	})
}

// prepare creates or cleans the folder of checkpoints as the decision says.
func (t *training) prepare(ctx context.Context) error {
	switch t.step {
	case resume:
		return t.output.Resume(ctx, t.e.Force)
	case extend:
		if err := t.output.Resume(ctx, t.e.Force); err != nil {
			return err
		}
		return storage.Remove(ctx, storage.Join(string(t.folder), manifest.FileName)) // no longer complete
	}
	if _, err := t.output.Begin(ctx, t.e.Force); err != nil {
		return err
	}
	if err := t.writeOrigin(ctx); err != nil {
		t.output.Pause()
		return err
	}
	return nil
}

// writeOrigin writes the weights of --from as the checkpoint before the first step, from which the training resumes.
func (t *training) writeOrigin(ctx context.Context) error {
	if t.initial == nil {
		return nil
	}
	record := checkpoint.Record{
		FormatVersion: checkpoint.FormatVersion, Configuration: t.Configuration, Vocabulary: checkpoint.VocabularyOf(t.loaded), Origin: t.Origin,
		Seed: t.seed, Validation: t.Validation, Rounds: t.Rounds, Epoch: 1, Partial: &checkpoint.Partial{},
	}
	k, err := kernel.Named("portable") // it has nothing to compute
	if err != nil {
		return err
	}
	moments, _ := steps.NewSolver(t.Configuration, 2*len(t.loaded.Relations), k).State()
	guarded := t.output.Lock().Guard(ctx)
	if err := storage.Remove(guarded, t.e.Workspace.TrainingLog()); err != nil { // of a training that was removed
		return err
	}
	if err := t.folder.Save(guarded, record, t.initial.Tensors, moments); err != nil {
		return fmt.Errorf("saving the weights of %s: %w", t.from, err)
	}
	for _, line := range t.weights.Lines(t.unused) {
		t.e.Say("%s", line)
	}
	return nil
}

// train runs the Beam pipeline. After an interrupt it waits until the training has written a checkpoint.
func (t *training) train(ctx context.Context) error {
	show := &display{environment: t.e, rate: t.LearningRate, pretrained: t.Origin != nil}
	defer show.end()
	// The session brings progress here and the interrupt to the training.
	session := train.NewSession(show.update)
	if !t.ends.IsZero() {
		session.Replan = t.replan
	}
	defer session.Close()
	defer command.OnSecondInterrupt(ctx, show.lost)()
	defer context.AfterFunc(ctx, func() {
		t.announceInterrupt()
		session.Stop()
	})()
	running, release := untilInterrupt(ctx)
	defer release()
	// An interrupt explains any error.
	err := t.runJobs(running, t.params(session.ID, t.output.Lock()), show)
	if ctx.Err() == nil {
		if err != nil && learn.Diverged(session.Err()) {
			return command.Diverged(err)
		}
		return err
	}
	show.end()
	t.reportInterrupt(ctx, session.Err())
	return context.Cause(ctx)
}

// grace is how long an interrupted training whose workers are in this process, of another runner than the local one,
// may take for its last checkpoint before it is canceled.
const grace = 10 * time.Second

// untilInterrupt returns the context of the jobs. A training in this process ends by itself, however long writing
// takes. One on another machine is not reached by the interrupt: the runner cancels it, at once.
func untilInterrupt(ctx context.Context) (running context.Context, release func()) {
	switch {
	case command.Local():
		return context.WithoutCancel(ctx), func() {}
	case command.Elsewhere():
		return command.CancelLater(ctx, 0)
	}
	return command.CancelLater(ctx, grace)
}

// announceInterrupt says what an interrupt leaves.
func (t *training) announceInterrupt() {
	switch {
	case command.Elsewhere():
		t.e.Progress.Print("interrupted: the newest checkpoint is kept, and the steps after it are lost")
	case t.Workers > 1:
		t.e.Progress.Print("interrupted: ending the current steps; the last round is kept")
	default:
		t.e.Progress.Print("interrupted: writing a checkpoint; a second interrupt ends at once, without it")
	}
}

// runJobs runs the Beam pipeline of one worker, or the pipelines of the rounds of several.
func (t *training) runJobs(ctx context.Context, p train.Params, show *display) error {
	if command.Elsewhere() { // a training in this process reports to the session
		defer t.follow(ctx, t.drawn(), show)()
	}
	if t.Workers > 1 {
		return t.runRounds(ctx, p)
	}
	return t.e.RunBeam(ctx, command.BeamPipeline(train.Learn, p))
}

// reportInterrupt says where an interrupted training resumes, and whether its last checkpoint could
// not be written. err is the error with which it ended.
func (t *training) reportInterrupt(ctx context.Context, err error) {
	records, _, unread := t.folder.Records(context.WithoutCancel(ctx))
	switch {
	case unread != nil:
		t.e.Say("listing the checkpoints: %v", unread)
	case len(records) == 0:
		t.e.Say("%s holds no checkpoint yet", t.folder)
	default:
		t.e.Say("%s holds the training up to %s: continue with %s",
			t.folder, records[len(records)-1].Name(), t.resumed())
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		t.e.Say("the steps since then are lost: %v", err)
	}
}

// completed returns the counts for the manifest, which marks the checkpoints complete, unless another run has written
// to their folder meanwhile.
func (t *training) completed(ctx context.Context) (map[string]int64, error) {
	records, _, err := t.folder.Records(ctx)
	if err != nil {
		return nil, err
	}
	n := len(records)
	if n > 0 && !t.ends.IsZero() { // as replanned
		t.Epochs = records[n-1].Configuration.Epochs
		t.wantedSettings, t.output.Configuration = t.settings, t.recorded
	}
	if err := t.sameRun(records); err != nil {
		return nil, err
	}
	t.output.Outputs = []string{checkpoint.BestFile}
	ended := n > 0 && (records[n-1].Epoch == t.Epochs || learn.Stopped(records, t.Validation.Patience))
	if !ended {
		return nil, fmt.Errorf("the job ended, but %s lacks epoch %d of %d: continue it with %s --resume", t.folder, t.Epochs, t.Epochs, t.output.Command)
	}
	return map[string]int64{"epochs": int64(records[n-1].Epoch), "facts": t.facts}, nil
}
