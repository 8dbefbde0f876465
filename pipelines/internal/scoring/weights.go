package scoring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/storage/lock"
	"tagnet/model/zoo"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/stages/worker"
)

// WeightsFolder is the folder, below the results, of the checkpoint that --model becomes: the workers read it there,
// and it stays with the results that it gave.
const WeightsFolder = "weights"

// Next prints commands that can follow, and for the foundation model one that makes a better one.
func (r *Run) Next(commands ...workspace.Command) {
	if r.ModelGiven && r.Model.Record.Origin.Model == zoo.Zero {
		further := r.E.Workspace.Command("train", "--from", zoo.Zero)
		if reach := r.Model.Configuration.Reach; reach > 0 { // zero has none of its own
			further = further.With("--reach", strconv.Itoa(reach))
		}
		commands = append(commands, further)
	}
	r.E.Next(commands...)
}

// writeWeights writes the checkpoint that is kept into the folder that the lock protects.
func (r *Run) writeWeights(ctx context.Context, held lock.Lock) error {
	if !r.ModelGiven {
		return nil
	}
	if err := r.Model.Save(held.Guard(ctx), r.Model.Folder); err != nil {
		return err
	}
	worker.KeepParameters(r.Model)
	return nil
}

// nameModels lets the error of results that exist name their model and this run's instead of every difference between
// the two, where they differ and --model names at least one.
func (r *Run) nameModels(ctx context.Context, err error) error {
	mismatch := new(workspace.Mismatch)
	if !errors.As(err, &mismatch) || !slices.ContainsFunc(mismatch.Differences, ofOtherModel) {
		return err
	}
	there, unread := r.E.Workspace.EvaluatedCheckpoint(ctx, mismatch.Folder)
	if unread != nil {
		return err
	}
	here := r.Recorded()
	others := slices.DeleteFunc(mismatch.Differences, func(difference string) bool {
		field, _, _ := strings.Cut(difference, " ")
		return strings.HasPrefix(field, "given") || strings.HasPrefix(field, "from") ||
			slices.Contains([]string{"probabilities", "checkpoint", "weights"}, field)
	})
	models := fmt.Sprintf("the model is %s there, %s here", there.Model(), here.Model())
	if there.Model() == here.Model() {
		models = "the model is " + here.Model() + " in both, but the file has changed"
	}
	mismatch.Differences = append([]string{models}, others...)
	return err
}

// ofOtherModel reports whether a difference comes from another model, at least one of the two from --model, rather than
// from what is known about one model.
func ofOtherModel(difference string) bool {
	field, _, _ := strings.Cut(difference, " ")
	return slices.Contains([]string{"given", "given.file", "given.model", "given.sha256"}, field)
}
