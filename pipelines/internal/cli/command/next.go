package command

import (
	"context"
	"fmt"

	"tagnet/pipelines/internal/cli/workspace"
)

// Step is a command that can follow a run, and the folder below the workspace that it makes.
type Step struct {
	Command workspace.Command
	Folder  string
}

// NextSteps prints a line for each step whose folder is not complete. If all are, the next step is
// score, or report once the test split is scored.
func (e *Environment) NextSteps(ctx context.Context, steps ...Step) {
	w := e.Workspace
	var left []workspace.Command
	for _, s := range steps {
		if !w.Complete(ctx, s.Folder) {
			left = append(left, s.Command)
		}
	}
	switch {
	case len(left) > 0:
	case !w.HasQueries(ctx, "test"):
		left = append(left, w.ListStep(ctx))
	case w.Complete(ctx, w.EvaluationFolder("test")):
		left = append(left, w.Command("report"))
	default:
		left = append(left, w.Command("score"))
	}
	e.Next(left...)
}

// NoQueries returns the error of a --split whose dataset has no facts of it. instead says what the command can do.
func NoQueries(split, instead string) error {
	return fmt.Errorf("--split %s has no queries: the dataset has no facts of that split; %s, or add %s.txt to the dataset and run preprocess again", split,
		instead, split)
}

// TrainStep is the training.
func (e *Environment) TrainStep() Step {
	return Step{e.Workspace.Command("train"), e.Workspace.CheckpointsFolder()}
}
