package pretrained

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"tagnet/model/checkpoint"
	"tagnet/model/kg"
	"tagnet/model/pretrained"
	"tagnet/model/zoo"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/progress"
)

// ModelUsage explains the flag --model.
func ModelUsage() string {
	return fmt.Sprintf("`%s|FILE.pth`: a trained model that tagnet comes with, of which zero answers on any graph and is taken where nothing is trained, or a file of ULTRA's weights, which answer on any graph, instead of a checkpoint", strings.Join(zoo.Names, "|"))
}

// IsFile reports whether --model names a file of weights rather than a model of the zoo: it ends as one, or has a path separator.
func IsFile(model string) bool {
	return pretrained.IsFile(model) || strings.ContainsAny(model, `/\`)
}

// Chosen reports whether the model of any graph answers, since nothing is trained in the workspace, and says so.
func Chosen(ctx context.Context, e *command.Environment) (bool, error) {
	trained, err := checkpoint.Trained(ctx, e.Workspace.Root())
	if err != nil || trained {
		return false, err
	}
	e.Say("no model is trained in this workspace: %s answers, tagnet's model of any graph; a better one: %s, or without --from for longer",
		zoo.Zero, e.Workspace.Command("train", "--from", zoo.Zero))
	return true, nil
}

// OpenModel returns the checkpoint of what --model names, over the relations of a graph, and lines about it.
func OpenModel(ctx context.Context, model string, loaded *kg.KG) (*Checkpoint, []string, error) {
	switch {
	case strings.HasSuffix(model, ".safetensors"):
		return nil, nil, command.Usage("--model: %s is a checkpoint of tagnet: use --checkpoint %[1]s", model)
	case !IsFile(model) && !pretrained.IsNamed(model):
		return nil, nil, command.FlagError("model", strconv.Quote(model), "one of "+strings.Join(zoo.Names, ", ")+", or FILE.pth, a file of ULTRA's weights")
	}
	file, err := Source{Flag: "model", File: model}.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	made, err := file.Over(loaded, file.Start())
	if err != nil {
		return nil, nil, err
	}
	return made, file.Lines(made), nil
}

// How many relations an error or a notice names: of those that the model lacks many, since they decide whether it can be used.
const (
	many = 12
	few  = 3
)

// lines returns a description, and which relations of a file or model the graph lacks, if there are any.
func lines(description string, made *Checkpoint, of string) []string {
	if len(made.Unused) == 0 {
		return []string{description}
	}
	return []string{description, fmt.Sprintf("the graph lacks %s of the relations of %s (%s); their weights are left out", count(made.Unused), of, some(made.Unused, few))}
}

// differences says which relations a model and a graph do not share.
func differences(e *checkpoint.UnknownRelationsError) string {
	text := fmt.Sprintf("the model does not know %s of the graph's relations (%s)", count(e.Unknown), some(e.Unknown, many))
	if len(e.Unused) > 0 {
		text += fmt.Sprintf(", and the graph lacks %s of the model's (%s)", count(e.Unused), some(e.Unused, few))
	}
	return text
}

// count returns the length of a list as people read it.
func count(list []string) string { return progress.Count(int64(len(list))) }

// some lists the first names, up to a number of them, and says how many more there are.
func some(list []string, most int) string {
	shown := make([]string, 0, most)
	for _, name := range list[:min(most, len(list))] {
		shown = append(shown, strconv.Quote(name))
	}
	text := strings.Join(shown, ", ")
	if len(list) > most {
		text += " and " + count(list[most:]) + " more"
	}
	return text
}
