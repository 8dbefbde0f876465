package score

import (
	"context"
	"fmt"

	"tagnet/formats/metrics"
	"tagnet/model/checkpoint"
	"tagnet/pipelines/internal/progress"
)

// openCalibration reads the calibration of the checkpoint, if there is one for this graph.
func (a *opened) openCalibration(ctx context.Context) error {
	if err := a.e.ReadCalibration(ctx, a.model); err != nil || !a.calibrate {
		return err
	}
	return a.copyToCalibrate()
}

// elsewhere reports whether the calibration of the checkpoint is not for this graph.
func (a *opened) elsewhere() bool {
	return !a.model.Record.CalibratedFor(a.loaded.Relations)
}

// checksum returns that of the calibration, or "" if there is none.
func (a *opened) checksum() string {
	if a.model.Calibration == nil {
		return ""
	}
	return a.model.Calibration.Checksum
}

// calibrationRemedy returns how to get a calibration of the checkpoint, or why there cannot be one.
func (a *opened) calibrationRemedy(ctx context.Context) string {
	if a.elsewhere() {
		return " for this graph: it was trained with other relations; --calibrate fits one"
	}
	w := a.e.Workspace
	best, err := checkpoint.Folder(w.Checkpoints()).Record(ctx, "best")
	if err != nil || best.Weights.SHA256 != a.model.Record.Weights.SHA256 {
		return "; train fits that of the best checkpoint of a training, --calibrate that of any"
	}
	if valid, err := a.loaded.Queries(ctx, "valid"); err == nil && len(valid) == 0 {
		return "; there are no validation queries to fit one to"
	}
	if a.model.Record.Vocabulary.Graph != a.loaded.Manifest.Checksum {
		return ": it was trained on another graph; --calibrate fits one"
	}
	return fmt.Sprintf(": %s fits one", w.Command("train", "--resume"))
}

// sayUncalibrated says why answers have no probabilities.
func (a *opened) sayUncalibrated(ctx context.Context) {
	switch {
	case a.model.Calibration != nil:
	case a.calibrate:
		a.e.Say("answers have scores, but no probabilities: no validation query has a new answer to fit them to")
	case a.declinedCalibration():
		a.e.Say("answers have scores, but no probabilities: --calibrate=false fits none")
	case a.isZero(): // which is calibrated where it can be
		a.e.Say("answers have scores, but no probabilities: there are no validation facts to fit them to")
	case a.weightsFlags.model != "":
		a.e.Say("answers have scores, but no probabilities: --model %s has no calibration; --calibrate fits one", a.weightsFlags.model)
	default:
		a.e.Say("answers have scores, but no probabilities: %s has no calibration%s", a.model.Record.Name(), a.calibrationRemedy(ctx))
	}
}

// printCalibration prints how well probabilities fit.
func (a *opened) printCalibration(ctx context.Context, c *metrics.Calibration) {
	if c == nil {
		a.sayUncalibrated(ctx)
		return
	}
	a.e.Say("  calibration error %.4f before, %.4f after: of %s new answers among the %d best of each query %.1f%% are true, their mean probability is %.1f%% (base rate: %.1f%%)",
		c.Before.Error, c.After.Error, progress.Count(c.Candidates), c.TopK, 100*c.Observed, 100*c.Mean, 100*c.BaseRate)
}
