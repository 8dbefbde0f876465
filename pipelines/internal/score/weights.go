package score

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/counts"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/weights/pretrained"
	"tagnet/model/zoo"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/workspace"
)

// weightsFolder is the folder, in that of what is scored, of the checkpoint that --model becomes: the workers read it there, and it is
// kept beside the results that it gave.
const weightsFolder = "weights"

// weightsFlags are the flags of weights that were trained elsewhere.
type weightsFlags struct{ model string }

func (f *weightsFlags) register(set *flag.FlagSet) {
	set.StringVar(&f.model, "model", "", command.ModelUsage())
}

// check validates the flags beside each other.
func (f *weightsFlags) check(e *command.Environment) error {
	given := map[string]bool{}
	e.Flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["checkpoint"] && given["model"] {
		return command.Usage("--checkpoint and --model name two models: leave one of them out")
	}
	return e.NotEmpty("the name of a model", "model")
}

// isZero reports whether the model of any graph that tagnet comes with answers.
func (a *opened) isZero() bool { return strings.EqualFold(a.weightsFlags.model, zoo.Zero) }

// next prints commands that can follow, and for the model of any graph one that makes a better one.
func (a *opened) next(commands ...workspace.Command) {
	if a.isZero() {
		further := a.e.Workspace.Command("train", "--from", zoo.Zero)
		if r := a.model.Configuration.Reach; r > 0 { // zero has none of its own
			further = further.With("--reach", strconv.Itoa(r))
		}
		commands = append(commands, further)
	}
	a.e.Next(commands...)
}

// openModel opens the model of --model.
func (a *opened) openModel(ctx context.Context) error {
	var err error
	if a.model, err = a.e.OpenModel(ctx, a.weightsFlags.model, a.loaded); err != nil {
		return err
	}
	a.loaded, a.given = a.model.KG, true
	if a.asks() {
		return nil // nothing is measured
	}
	s, err := counts.ReadDataset(ctx, a.e.Workspace.Graph())
	if err != nil {
		return err
	}
	for _, name := range []string{s.Dataset, s.Inference} {
		if pretrained.Seen(*a.model.Record.Origin, name) {
			a.e.Say("warning: these weights were trained on facts of %s: the metrics are not those of an unseen graph", name)
			break
		}
	}
	return nil
}

// placeWeights sets where in a folder the workers will find the checkpoint that is kept there, and records the model of --model.
func (a *scoring) placeWeights(folder string, r *recorded) {
	if a.given {
		a.model.Folder = checkpoint.Folder(storage.Join(a.e.Workspace.Path(folder), weightsFolder))
		r.Given = a.model.Record.Origin
	}
}

// writeWeights writes the checkpoint that is kept into the folder that the lock protects.
func (a *scoring) writeWeights(ctx context.Context, held lock.Lock) error {
	if !a.given {
		return nil
	}
	return a.model.Save(held.Guard(ctx), a.model.Folder)
}

// nameModels lets the error of results that exist name their model and this run's, where one of them at least is that of
// --model and not the other's, instead of all that differs with them.
func (a *opened) nameModels(ctx context.Context, err error) error {
	mismatch := new(workspace.Mismatch)
	if !errors.As(err, &mismatch) || !slices.ContainsFunc(mismatch.Differences, ofOtherModel) {
		return err
	}
	there, unread := a.e.Workspace.EvaluatedCheckpoint(ctx, storage.Base(mismatch.Folder))
	if unread != nil {
		return err
	}
	here := workspace.Evaluated{Checkpoint: a.model.Record.Name()}
	if a.given {
		here.Given = a.model.Record.Origin
	}
	others := slices.DeleteFunc(mismatch.Differences, func(difference string) bool {
		field, _, _ := strings.Cut(difference, " ")
		return strings.HasPrefix(field, "given") || strings.HasPrefix(field, "from") || slices.Contains([]string{"probabilities", "checkpoint", "weights"}, field)
	})
	models := fmt.Sprintf("the model is %s there, %s here", there.Model(), here.Model())
	if there.Model() == here.Model() {
		models = "the model is " + here.Model() + " in both, but the file has changed"
	}
	mismatch.Differences = append([]string{models}, others...)
	return err
}

// ofOtherModel reports whether a difference is that of two models, one of --model at least, rather than of what
// is known about one.
func ofOtherModel(difference string) bool {
	field, _, _ := strings.Cut(difference, " ")
	return slices.Contains([]string{"given", "given.file", "given.model", "given.sha256"}, field)
}
