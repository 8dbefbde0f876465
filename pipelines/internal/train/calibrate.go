package train

import (
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

// calibrationParams returns the parameters of the calibration of the best checkpoint.
func (t *trainer) calibrationParams(held lock.Lock) calibrate.Params {
	w, on, between := t.e.Workspace, t.loaded.Of("valid"), t.edges.URL()
	if on != t.loaded.Train {
		between = "" // of the training graph; the stage makes that of the inference graph
	}
	return calibrate.NewParams(score.Params{
		Graph: w.Graph(), Parts: t.validParts(), RelationGraph: between, Reach: t.configuration.Reach, Checkpoints: w.Checkpoints(), Checkpoint: "best",
		Threads: t.threads, MostThreads: t.calibrationPlan.MaxThreads, Memory: t.memory * budget.MiB, Kernel: t.e.Variant(t.kernel), Device: t.device,
	}, t.validation.Limit, workload.Work(t.configuration, on.Graph), held)
}

// uncalibrated reports whether the best checkpoint lacks a calibration although there are validation queries to fit it to. One that cannot
// be read is lacking.
func (t *trainer) uncalibrated(ctx context.Context) (bool, error) {
	if t.valid == 0 {
		return false, nil
	}
	best, err := t.folder.Record(ctx, "best")
	if err != nil {
		return false, err
	}
	c, err := t.fitted(ctx, best)
	return c == nil, err
}

// fitted returns the calibration of a checkpoint, or nil if it has none that can be read.
func (t *trainer) fitted(ctx context.Context, r checkpoint.Record) (*calibration.Calibration, error) {
	c, err := t.folder.Calibration(ctx, r)
	if damaged := new(checkpoint.DamagedError); errors.As(err, &damaged) {
		return nil, nil
	}
	return c, err
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
	again, url := t.e.Workspace.Command("train", "--resume"), t.folder.CalibrationURL(best.Name())
	c, unread := t.folder.Calibration(ctx, best)
	if damaged := new(checkpoint.DamagedError); errors.As(unread, &damaged) {
		return fmt.Errorf("%w: %s fits it again", damaged, again)
	}
	m, _ := manifest.Read(ctx, string(t.folder))
	listed := slices.ContainsFunc(m.Files, func(f manifest.File) bool { return f.Name == storage.Base(url) })
	if unread == nil && c == nil && listed {
		return fmt.Errorf("%s is missing: %s fits it again", url, again)
	}
	return err
}

// calibrate fits probabilities to the scores of the best checkpoint, unless that is done or there are no validation
// queries.
func (t *trainer) calibrate(ctx context.Context) error {
	if t.valid == 0 {
		return nil
	}
	best, err := t.folder.Record(ctx, "best")
	if err != nil {
		return err
	}
	fitted, err := t.fitted(ctx, best)
	if err != nil || fitted != nil {
		return err
	}
	if t.replaced(ctx, best) {
		return nil
	}
	p := t.calibrationParams(t.stage.Lock())
	queries := min(t.valid, p.Queries.Limit)
	bar := t.e.Progress.Begin("calibrating", queries, "validation queries")
	defer bar.End()
	defer bar.Follow(ctx, score.RowsCounter)()
	worker.Start()
	if err := t.e.RunBeam(ctx, BuildCalibration(p)); err != nil {
		worker.Stop()
		if t.replaced(ctx, best) {
			return nil
		}
		t.e.Say("all epochs are trained; probabilities are missing: %s fits them", t.resumed())
		return err
	}
	bar.Set(queries)
	return nil
}

// replaced reports whether the graph is another now than that of a checkpoint, which is what its calibration is for.
func (t *trainer) replaced(ctx context.Context, r checkpoint.Record) bool {
	return errors.As(manifest.Confirm(ctx, t.e.Workspace.Graph(), r.Vocabulary.Graph, nil), new(*manifest.Replaced))
}

// showCalibration prints what the probabilities of the best checkpoint presume, or how to get some. It returns the
// calibration's URL, or "" without one.
func (t *trainer) showCalibration(ctx context.Context, best checkpoint.Record, c *calibration.Calibration) string {
	if t.valid == 0 {
		return ""
	}
	if c == nil && t.replaced(ctx, best) {
		t.e.Say("%s was replaced meanwhile: the checkpoints are complete, and no probabilities were fitted; %s fits them to the new graph",
			t.e.Workspace.Graph(), t.e.Workspace.Command("score", "--calibrate"))
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
