package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"tagnet/formats/lock"
	"tagnet/formats/manifest"
	"tagnet/formats/storage"
	"tagnet/model/budget"
	"tagnet/model/calibration"
	"tagnet/model/checkpoint"
	"tagnet/model/prior"
	"tagnet/model/workload"
	"tagnet/pipelines/internal/progress"
	"tagnet/pipelines/internal/workspace"
	"tagnet/stages/calibrate"
	"tagnet/stages/score"
	"tagnet/stages/worker"
)

// BuildCalibration returns the Beam pipeline that calibrates a checkpoint.
func BuildCalibration(p calibrate.Params) *beam.Pipeline {
	pipeline, s := beam.NewPipelineWithRoot()
	calibrate.Calibrate(s, p)
	return pipeline
}

// calibrationParams returns the parameters of the calibration of the best checkpoint, whose scores have the prior of a checksum.
func (t *trainer) calibrationParams(held lock.Lock, prior string) calibrate.Params {
	w, on, between := t.e.Workspace, t.loaded.Of("valid"), t.edges.URL()
	if on != t.loaded.Train {
		between = "" // of the training graph; the stage makes that of the inference graph
	}
	return calibrate.NewParams(score.Params{
		Graph: w.Graph(), Parts: t.validParts(), RelationGraph: between, Reach: t.configuration.Reach, Prior: prior, Checkpoints: w.Checkpoints(), Checkpoint: "best",
		Threads: t.replicas, MostThreads: t.calibrationPlan.MaxThreads, Memory: t.memory * budget.MiB, Kernel: t.e.Variant(t.kernel), Device: t.device,
	}, t.validation.Limit, workload.Work(t.configuration, on.Graph), held)
}

// unfitted reports whether the best checkpoint lacks a prior with --prior, or a calibration, although there are validation queries to fit
// them to. One that cannot be read is lacking.
func (t *trainer) unfitted(ctx context.Context) (prior, calibration bool, err error) {
	if !t.calibrates {
		return false, false, nil
	}
	best, err := t.folder.Record(ctx, "best")
	if err != nil {
		return false, false, err
	}
	p, c, err := t.fitted(ctx, best)
	return t.prior && p == nil, c == nil, err
}

// fitted returns the prior of a checkpoint, as priorOf does, and its calibration, or nil if it has none that can be read.
func (t *trainer) fitted(ctx context.Context, r checkpoint.Record) (p *prior.Prior, c *calibration.Calibration, err error) {
	if p, err = t.priorOf(ctx, r); err != nil {
		return nil, nil, err
	}
	c, err = t.folder.Calibration(ctx, r, p.Sum())
	if damaged := new(checkpoint.DamagedError); errors.As(err, &damaged) {
		return p, nil, nil
	}
	return p, c, err
}

// refit returns the error of complete checkpoints. If it is about the calibration, its remedy is to fit that again, not to
// train all epochs again.
func (t *trainer) refit(ctx context.Context, err error) error {
	if unusable, mismatch := new(workspace.Unusable), new(workspace.Mismatch); !errors.As(err, &unusable) || errors.As(err, &mismatch) {
		return err
	}
	best, unread := t.folder.Record(ctx, "best")
	if unread != nil {
		return err
	}
	m, _ := manifest.Read(ctx, string(t.folder))
	lost := func(url string, there bool, unread error, again workspace.Command) error {
		listed := slices.ContainsFunc(m.Files, func(f manifest.File) bool { return f.Name == storage.Base(url) })
		if damaged := new(checkpoint.DamagedError); errors.As(unread, &damaged) {
			return fmt.Errorf("%w: %s fits it again", damaged, again)
		}
		if unread == nil && !there && listed {
			return fmt.Errorf("%s is missing: %s fits it again", url, again)
		}
		return nil
	}
	again := t.e.Workspace.Command("train", "--resume")
	p, unread := t.folder.Prior(ctx, best, t.loaded.Relations)
	if of := lost(t.folder.PriorURL(best.Name()), p != nil, unread, again.With("--prior")); of != nil {
		return of
	}
	c, unread := t.folder.Calibration(ctx, best, p.Sum())
	return cmp.Or(lost(t.folder.CalibrationURL(best.Name()), c != nil, unread, again), err)
}

// calibrate fits probabilities to the scores of the best checkpoint, unless that is done or there are no validation
// queries.
func (t *trainer) calibrate(ctx context.Context) error {
	if !t.calibrates {
		return nil
	}
	best, err := t.folder.Record(ctx, "best")
	if err != nil {
		return err
	}
	prior, fitted, err := t.fitted(ctx, best)
	if err != nil || fitted != nil {
		return err
	}
	p := t.calibrationParams(t.stage.Lock(), prior.Sum())
	queries := min(t.valid, p.Queries.Limit)
	return t.scoreValid(ctx, "calibrating", "all epochs are trained; probabilities are missing: %s fits them", queries, BuildCalibration(p))
}

// scoreValid runs a pipeline that scores validation queries. failed is what is said of an error, with the command that continues.
func (t *trainer) scoreValid(ctx context.Context, does, failed string, queries int64, pipeline *beam.Pipeline) error {
	bar := t.e.Progress.Begin(does, queries, "validation queries")
	defer bar.End()
	defer bar.Follow(ctx, score.RowsCounter)()
	worker.Start()
	if _, err := t.e.RunBeam(ctx, pipeline); err != nil {
		worker.Stop()
		t.e.Say(failed, t.resumed())
		return err
	}
	bar.Set(queries)
	return nil
}

// showCalibration prints what the probabilities of the best checkpoint presume, or how to get some. It returns the
// calibration's URL, or "" without one.
func (t *trainer) showCalibration(best checkpoint.Record, c *calibration.Calibration) string {
	if !t.calibrates {
		return ""
	}
	if c == nil {
		t.e.Say("answers will have scores, but no probabilities: %s fits them", t.e.Workspace.Command("train", "--resume"))
		return ""
	}
	t.e.Say("calibrated on the %d best new answers of each of %s validation queries: %.1f%% are true, the base rate of probabilities; %d of %d relation directions are calibrated separately",
		c.TopK, progress.Count(c.Queries), 100*c.BaseRate, len(c.Relations), 2*len(t.loaded.Relations))
	return t.folder.CalibrationURL(best.Name())
}
