package train

import (
	"context"
	"errors"

	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/answer/probability"
	"tagnet/pipelines/internal/probabilities"
	"tagnet/stages/worker"
)

// openFit finds out whether the probabilities of the best checkpoint are fitted.
func (d *decision) openFit(ctx context.Context) (*probabilities.Fit, error) {
	m, err := worker.Model(ctx, d.folder, "best", d.loaded)
	if err != nil {
		return nil, err
	}
	m.Folder = d.folder // where workers read the weights
	if err := m.SetReach(d.wantedSettings.Reach); err != nil {
		return nil, err
	}
	return probabilities.OpenFit(ctx, d.e, m, d.wantedSettings.on)
}

// unfitted opens the fit of the probabilities of complete checkpoints, with --resume, and reports whether
// it is left to make.
func (d *decision) unfitted(ctx context.Context) (bool, error) {
	if !d.resume || d.bundles {
		return false, nil
	}
	var err error
	d.fit, err = d.openFit(ctx)
	return err == nil && !d.fit.Made(), err
}

// makeFit fits the probabilities of the best checkpoint, which is complete.
func (d *decision) makeFit(ctx context.Context) error {
	if d.bundles {
		d.e.Say("probabilities are not fitted to a graph that --bundles does not hold: the first answers without it will be waited for")
		return nil
	}
	err := d.tryFit(ctx)
	held := new(lock.Held)
	switch {
	case err == nil:
		return nil
	case d.replaced(ctx):
		d.e.Say("%s was replaced meanwhile: the checkpoints are complete, and no probabilities were fitted", d.e.Workspace.Graph())
		return nil
	case errors.As(err, &held):
		d.e.Say("the checkpoints are complete, and no probabilities were fitted: %v; %s fits them later", held, d.resumed())
		return nil
	}
	d.e.Say("all epochs are trained; probabilities are missing: %s fits them", d.resumed())
	return err
}

// tryFit fits the probabilities of the best checkpoint, unless the graph was replaced meanwhile.
func (d *decision) tryFit(ctx context.Context) error {
	if d.replaced(ctx) {
		return &manifest.Replaced{Folder: d.e.Workspace.Graph()}
	}
	var err error
	if d.fit == nil {
		if d.fit, err = d.openFit(ctx); err != nil {
			return err
		}
	}
	if err := d.fit.Make(ctx, "", lock.Lock{}); err != nil {
		return err
	}
	_, err = d.fit.Estimator(probability.Presumed{Missing: probability.DefaultMissing, Guessed: true}) // says what is presumed
	return err
}

// replaced reports whether the graph is another now than when the training began.
func (d *decision) replaced(ctx context.Context) bool {
	return errors.As(manifest.Confirm(ctx, d.e.Workspace.Graph(), d.loaded.Manifest.Checksum, nil), new(*manifest.Replaced))
}
