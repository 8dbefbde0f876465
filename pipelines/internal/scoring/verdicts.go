package scoring

import (
	"context"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/verdicts"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/stages/predict"
)

// readVerdicts reads what people said of the graph's facts.
func (a *Asking) readVerdicts(ctx context.Context) (err error) {
	if a.Model.Graph.IsOutline() {
		there, err := storage.Exists(ctx, a.E.Workspace.Path(verdicts.File))
		if there {
			a.E.Say("verdicts are not used: --bundles does not hold the names that they are about")
		}
		return err
	}
	if a.said, err = a.Model.ReadVerdicts(ctx, a.E.Workspace.Root()); err != nil {
		return err
	}
	a.record.Verdicts = a.said.SHA256
	if n := a.said.Unknown; n > 0 {
		a.E.Say("verdicts about names that the graph does not have: %s, such as %q; they are kept", progress.Count(int64(n)), a.said.FirstUnknown)
	}
	return nil
}

// Verdict returns what was said of a fact by names: true, false, or nothing.
func (a *Asking) Verdict(f verdicts.Fact) string {
	return string(a.said.Of[f].Judgment)
}

// presume sets Probabilities once they are fitted. They presume what verdicts tell of how many facts are missing,
// unless the user said it.
func (a *Asking) presume(ctx context.Context) error {
	told, err := a.Fit.Tell(ctx, a.said)
	if err != nil {
		return err
	}
	a.presumed = told.Presumed(a.presumed)
	a.Probabilities, err = a.Fit.Probabilities(ctx, a.presumed)
	return err
}

// copyVerdicts copies the verdicts into a folder of results, where workers read them.
func (a *Asking) copyVerdicts(ctx context.Context, folder string) error {
	if a.said.SHA256 == "" {
		return nil
	}
	a.Verdicts = predict.Verdicts{Folder: folder, SHA256: a.said.SHA256}
	return storage.WriteFile(ctx, storage.Join(folder, verdicts.File), a.said.Text)
}
