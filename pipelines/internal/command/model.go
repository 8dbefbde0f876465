package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"tagnet/formats/names"
	"tagnet/model/checkpoint"
	"tagnet/model/configuration"
	"tagnet/model/kg"
	"tagnet/model/pretrained"
	"tagnet/model/zoo"
	"tagnet/pipelines/internal/progress"
)

// ModelUsage explains the flag --model.
func ModelUsage() string {
	return fmt.Sprintf("`%s|FILE.pth`: a trained model that tagnet comes with, of which zero answers on any graph and is taken where nothing is trained, or a file of ULTRA's weights, which answer on any graph, instead of a checkpoint", strings.Join(zoo.Names, "|"))
}

// ChoosesZero reports whether the model of any graph answers, since nothing is trained in the workspace, and says so.
func (e *Environment) ChoosesZero(ctx context.Context) (bool, error) {
	trained, err := checkpoint.Trained(ctx, e.Workspace.Root())
	if err != nil || trained {
		return false, err
	}
	e.Say("no model is trained in this workspace: %s answers, tagnet's model of any graph; a better one: %s, or without --from for longer",
		zoo.Zero, e.Workspace.Command("train", "--from", zoo.Zero))
	return true, nil
}

// OpenModel returns the checkpoint of what --model names, over the relations of the workspace's graph, the graph without the facts of relations
// that the model does not know, and lines about both.
func (e *Environment) OpenModel(ctx context.Context, model string, loaded *kg.KG) (*pretrained.Checkpoint, *kg.KG, []string, error) {
	isFile := pretrained.IsFile(model) || strings.ContainsAny(model, `/\`)
	switch {
	case strings.HasSuffix(model, ".safetensors"):
		return nil, nil, nil, Usage("--model: %s is a checkpoint of tagnet: use --checkpoint %[1]s", model)
	case !isFile && !pretrained.IsNamed(model):
		return nil, nil, nil, FlagError("model", strconv.Quote(model), "one of "+strings.Join(zoo.Names, ", ")+", or FILE.pth, a file of ULTRA's weights")
	}
	weights, err := OpenWeights(ctx, "model", model)
	if err != nil {
		return nil, nil, nil, err
	}
	var notes []string
	_, err = weights.Weights.Over(loaded, weights.Start())
	if unknown := new(checkpoint.UnknownRelationsError); errors.As(err, &unknown) && len(unknown.Unknown) < len(loaded.Relations) {
		var note string
		if loaded, note, err = e.Workspace.Known(ctx, loaded, unknown); err != nil {
			return nil, nil, nil, err
		}
		notes = []string{note}
	}
	made, err := weights.Over(loaded, weights.Start())
	if err != nil {
		return nil, nil, nil, err
	}
	return made, loaded, append(weights.Lines(made), notes...), nil
}

// Weights are those of a model that was trained before, which a flag names.
type Weights struct {
	*pretrained.Weights
	flag, file string
}

// OpenWeights opens the model of package zoo, the checkpoint or the file that a flag names. Errors name the flag.
func OpenWeights(ctx context.Context, flag, file string) (*Weights, error) {
	opened, err := pretrained.Open(ctx, file)
	w := &Weights{opened, flag, file}
	if err != nil && pretrained.IsNamed(file) {
		return nil, fmt.Errorf("--%s %s: this program was built of other files than the repository's: build it again: %w", flag, file, err)
	}
	if err != nil {
		return nil, w.flagged(err)
	}
	return w, nil
}

// flagged makes the error of the file one of the flag that names it.
func (w *Weights) flagged(err error) error {
	bad := new(pretrained.FileError)
	if !errors.As(err, &bad) {
		return err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return MissingFile(w.flag, bad.URL, err)
	case bad.Other:
		return Usage("--%s: %v", w.flag, err)
	}
	return fmt.Errorf("--%s: %w", w.flag, err)
}

// Over returns the checkpoint of the weights over the relations of a graph.
func (w *Weights) Over(loaded *kg.KG, c configuration.Configuration) (*pretrained.Checkpoint, error) {
	made, err := w.Weights.Over(loaded, c)
	if unknown := new(checkpoint.UnknownRelationsError); errors.As(err, &unknown) {
		return nil, Usage("--%s %s: %v; train a model on this dataset, or give --%s zero, which answers on any graph", w.flag, w.name(), unknown, w.flag)
	}
	if err != nil {
		return nil, w.flagged(err)
	}
	return made, nil
}

// name returns the file's path, or the name of a model as package zoo writes it.
func (w *Weights) name() string {
	if pretrained.IsNamed(w.file) {
		return strings.ToLower(w.file)
	}
	return w.file
}

// Lines returns what the checkpoint is that Over returned, and which relations of the weights the graph lacks, if there are any.
func (w *Weights) Lines(made *pretrained.Checkpoint) []string {
	kind := "weights of"
	if pretrained.IsNamed(w.file) {
		kind = "model"
	}
	lines := []string{fmt.Sprintf("%s %s: %s", kind, w.name(), w.About)}
	if len(made.Unused) > 0 {
		lines = append(lines, fmt.Sprintf("the graph lacks %s of the relations of %s (%s); their weights are left out", progress.Count(int64(len(made.Unused))), w.name(), names.First(made.Unused, 3)))
	}
	return lines
}
