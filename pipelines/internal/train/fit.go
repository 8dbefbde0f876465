package train

import (
	"context"
	"errors"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/answer/probability"
	"tagnet/model/budget"
	"tagnet/model/engine/device"
	"tagnet/pipelines/internal/probabilities"
	"tagnet/stages/worker"
)

// openFit finds out whether the probabilities of the best checkpoint are fitted.
func (t *trainer) openFit(ctx context.Context) (*probabilities.Fit, error) {
	m, err := worker.Model(ctx, t.folder, "best", t.loaded)
	if err != nil {
		return nil, err
	}
	m.Folder = t.folder // where workers read the weights
	if err := m.SetReach(t.configuration.Reach); err != nil {
		return nil, err
	}
	return probabilities.OpenFit(ctx, t.e, m, t.Resources)
}

// unfitted opens the fit of the probabilities of complete checkpoints, with --resume, and reports whether it is left to make.
func (t *trainer) unfitted(ctx context.Context) (bool, error) {
	if !t.resume || t.bundles {
		return false, nil
	}
	var err error
	t.fit, err = t.openFit(ctx)
	return err == nil && !t.fit.Made(), err
}

// makeFit fits the probabilities of the best checkpoint, which is complete.
func (t *trainer) makeFit(ctx context.Context) error {
	if t.bundles {
		t.e.Say("probabilities are not fitted to a graph that --bundles does not hold: the first answers without it will be waited for")
		return nil
	}
	err := t.tryFit(ctx)
	held := new(lock.Held)
	switch {
	case err == nil:
		return nil
	case t.replaced(ctx):
		t.e.Say("%s was replaced meanwhile: the checkpoints are complete, and no probabilities were fitted", t.e.Workspace.Graph())
		return nil
	case errors.As(err, &held):
		t.e.Say("the checkpoints are complete, and no probabilities were fitted: %v; %s fits them later", held, t.resumed())
		return nil
	}
	t.e.Say("all epochs are trained; probabilities are missing: %s fits them", t.resumed())
	return err
}

// tryFit fits the probabilities of the best checkpoint, unless the graph was replaced meanwhile.
func (t *trainer) tryFit(ctx context.Context) error {
	if t.replaced(ctx) {
		return &manifest.Replaced{Folder: t.e.Workspace.Graph()}
	}
	var err error
	if t.fit == nil {
		if t.fit, err = t.openFit(ctx); err != nil {
			return err
		}
	}
	if err := t.fit.Make(ctx, "", lock.Lock{}); err != nil {
		return err
	}
	_, err = t.fit.Estimator(probability.DefaultMissing) // says what the data allow
	return err
}

// replaced reports whether the graph is another now than when the training began.
func (t *trainer) replaced(ctx context.Context) bool {
	return errors.As(manifest.Confirm(ctx, t.e.Workspace.Graph(), t.loaded.Manifest.Checksum, nil), new(*manifest.Replaced))
}

// readyToFit checks, like Ready of a stage, that a run with only the fit to make can make it.
func (t *trainer) readyToFit(ctx context.Context) error {
	return t.fit.Ready(t.e.Ready(t.fit.Work()))(ctx)
}

// estimate estimates the memory of the training and of the fit of probabilities after it. sizes describes the validation split, all that of
// all facts.
func (f *flags) estimate(sizes, all budget.Sizes) budget.Estimate {
	u := budget.Use{Task: "training on this graph", Training: true, Averages: f.rounds.Workers > 1}
	if f.Device.Mode == device.CUDA {
		u.Devices = f.together
	}
	e := budget.Of(sizes, f.configuration, u)
	if !f.bundles {
		e = e.Or(probabilities.EstimateFit(all, f.configuration))
	}
	return e
}
