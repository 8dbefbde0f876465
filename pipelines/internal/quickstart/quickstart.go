package quickstart

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/graph/synthetic"
	"tagnet/pipelines/internal/cli/command"
	"tagnet/pipelines/internal/cli/progress"
	"tagnet/pipelines/internal/cli/workspace"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/report"
	"tagnet/pipelines/internal/score"
	"tagnet/pipelines/internal/study"
	"tagnet/pipelines/internal/train"
)

// Step is one of the commands.
type Step struct {
	// Title says what it does, for the user.
	Title    string
	Pipeline command.Pipeline
	// Arguments are its own flags, without the flags that all steps share.
	Arguments []string
}

// small is a configuration that learns the sample's rules in less than a minute: narrower and with
// fewer negatives than the default, which is meant for larger graphs.
var small = []string{"--dim", "16", "--negatives", "32", "--batch_size", "32", "--epochs", "4"}

// GraphFlag adds the flag that selects a made-up graph.
func GraphFlag(set *flag.FlagSet, value *string) {
	names := synthetic.SampleNames()
	command.Choice(set, value, "dataset", names[0], names, "the made-up graph")
}

// Steps returns the commands in their order, for a made-up graph.
func Steps(graph string) []Step {
	var arguments []string
	if graph != synthetic.SampleNames()[0] {
		arguments = []string{"--dataset", graph}
	}
	return []Step{
		{"make the sample graph and its tables", preprocess.Pipeline(), arguments},
		{"compute distances from the source of every test query", study.Distances(), []string{"--split", "test"}},
		{"train a model", train.Pipeline(), small},
		{"score the held-out queries", score.Pipeline(), []string{"--split", "test"}},
		{"count messages", study.Messages(), []string{"--split", "test"}},
		{"write the report", report.Pipeline(), nil},
	}
}

// Pipeline is `go run ./pipelines/quickstart`.
func Pipeline() command.Pipeline {
	graph := ""
	return command.Pipeline{
		Name: "quickstart",
		Summary: "Runs the commands from preprocess to report in under two minutes: makes a small knowledge graph whose rules are known, trains a model, " +
			"scores the held-out queries, counts messages and writes the report.",
		Flags:   func(set *flag.FlagSet) { GraphFlag(set, &graph) },
		Run:     func(ctx context.Context, e *command.Environment) error { return run(ctx, e, Steps(graph)) },
		Several: true,
	}
}

// run runs the steps in this process and prints each command line before it.
func run(ctx context.Context, e *command.Environment, all []Step) error {
	begun := time.Now()
	for i, s := range all {
		arguments, err := s.command(ctx, e)
		if err != nil {
			return err
		}
		e.Say("\n[%d of %d] %s: %s", i+1, len(all), s.Title, workspace.Command{Pipeline: s.Pipeline.Name, Flags: arguments})
		if err := s.embed(ctx, e, arguments); err != nil {
			return err
		}
	}
	return summarize(ctx, e, time.Since(begun))
}

// Run runs the step in the workspace of another command. An earlier run of the same step is not repeated, and an
// interrupted training resumed.
func (s Step) Run(ctx context.Context, e *command.Environment) error {
	arguments, err := s.command(ctx, e)
	if err != nil {
		return err
	}
	return s.embed(ctx, e, arguments)
}

// embed runs the step. Where --force mends its error, it advises that for all steps: those after it need it, too.
func (s Step) embed(ctx context.Context, e *command.Environment, arguments []string) error {
	err := e.Embed(ctx, s.Pipeline, arguments...)
	switch unusable := new(workspace.Unusable); {
	case err == nil:
		return nil
	case e.Force || !errors.As(err, &unusable):
		return fmt.Errorf("%s: %w", s.Pipeline.Name, err)
	}
	return fmt.Errorf("%s: %w; %s does so with every step", s.Pipeline.Name, err, e.Again().With("--force"))
}

// command returns the step's arguments and the flags of this run that all steps share, unless they have their defaults.
func (s Step) command(ctx context.Context, e *command.Environment) ([]string, error) {
	var arguments []string
	if root := e.Workspace.Root(); root != "./workspace" {
		arguments = append(arguments, "--workspace", root)
	}
	if e.Seed != 0 {
		arguments = append(arguments, "--seed", strconv.FormatInt(e.Seed, 10))
	}
	arguments = append(arguments, s.Arguments...)
	if e.Force {
		return append(arguments, "--force"), nil
	}
	if s.Pipeline.Name != "train" {
		return arguments, nil
	}
	// Resume an interrupted training: checkpoints without a manifest.
	saved, err := storage.List(ctx, e.Workspace.Checkpoints())
	if err != nil {
		return nil, err
	}
	complete := slices.ContainsFunc(saved, func(url string) bool { return storage.Base(url) == manifest.FileName })
	if len(saved) > 0 && !complete {
		arguments = append(arguments, "--resume")
	}
	return arguments, nil
}

// summarize prints the metrics, where the report is, and commands to try next.
func summarize(ctx context.Context, e *command.Environment, took time.Duration) error {
	m, err := storage.ReadJSON[metrics.Evaluation](ctx, storage.Join(e.Workspace.Evaluation("test"), metrics.File))
	if err != nil {
		return err
	}
	p := m.Pessimistic
	e.Say("\ndone in %.0f seconds: for %.1f%% of %s held-out queries the right answer ranks first", took.Seconds(), 100*p.Hits1, progress.Count(m.Queries))
	e.Say("MRR %.4f, Hits@1 %.4f, Hits@3 %.4f, Hits@10 %.4f (filtered, pessimistic ranks)", p.MRR, p.Hits1, p.Hits3, p.Hits10)
	e.Say("report: %s", storage.Join(e.Workspace.Report(), "index.html"))
	e.Next(e.Workspace.Command("report", "--open"), workspace.New("mine").Command("preprocess", "--dataset", "FOLDER"), e.Workspace.Command("train", "-h"))
	return nil
}
