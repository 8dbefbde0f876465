package score

import (
	"context"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/model/answer"
	"tagnet/model/graph/kg"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/probabilities"
	"tagnet/stages/score"
)

// openProbabilities finds out whether the probabilities of answers are fitted, before anything is written. An evaluation has none, nor has --graph
// train.
func (a *opened) openProbabilities(ctx context.Context) (err error) {
	if a.asks() && a.about() == kg.All {
		a.fit, err = probabilities.Open(ctx, a.e, a.model, probabilities.Resources{Threads: a.threads, Memory: a.memory, Kernel: a.kernel, Device: a.device})
	}
	return err
}

// probabilities returns where workers read the probabilities of answers, nowhere as long as they are not fitted.
func (a *opened) probabilities(ctx context.Context) (of score.Probabilities, err error) {
	fitted, err := a.fit.Estimator(a.missing)
	if fitted == nil || err != nil {
		return of, err
	}
	all, err := a.model.OverAllFacts(ctx)
	if err != nil {
		return of, err
	}
	folder := a.e.Workspace.Path(answer.ProbabilitiesFolder)
	file, err := manifest.HashFile(ctx, storage.Join(folder, all.ProbabilitiesFile()))
	return score.Probabilities{Folder: folder, SHA256: file.SHA256, Missing: a.missing}, err
}

// findProbabilities records the probabilities of answers, if they are fitted.
func (a *scoring) findProbabilities(ctx context.Context) (err error) {
	q := a.asked
	q.probabilities, err = a.probabilities(ctx)
	q.recorded.Probabilities = q.probabilities.SHA256
	return err
}

// makeProbabilities fits the probabilities of answers, unless they are fitted, and records them.
func (a *scoring) makeProbabilities(ctx context.Context, stage *workspace.Stage) error {
	if a.fit.Made() {
		return nil
	}
	if err := a.fit.Make(ctx); err != nil {
		return err
	}
	if err := a.findProbabilities(ctx); err != nil {
		return err
	}
	r := a.asked.recorded
	a.placeWeights(a.asked.folder, &r)
	stage.Configuration = r
	return nil
}

// sayUncertain says why answers have no probabilities, where that was not said before.
func (a *opened) sayUncertain(made, certain bool) {
	switch {
	case certain:
	case a.graph == trainGraph:
		a.e.Say("answers have scores, but no probabilities: these are fitted in the graph of all facts, which --graph %s leaves out", a.graph)
	case !made:
		a.e.Say("answers have scores, but no probabilities: the graph has too few facts to fit them to")
	}
}
