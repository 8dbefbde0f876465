package quickstart

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"tagnet/formats/manifest"
	"tagnet/formats/metrics"
	"tagnet/formats/storage"
	"tagnet/pipelines/internal/command"
	"tagnet/pipelines/internal/distances"
	"tagnet/pipelines/internal/messages"
	"tagnet/pipelines/internal/preprocess"
	"tagnet/pipelines/internal/progress"
	"tagnet/pipelines/internal/report"
	"tagnet/pipelines/internal/score"
	"tagnet/pipelines/internal/train"
	"tagnet/pipelines/internal/workspace"
)

// step is one of the commands.
type step struct {
	title     string
	pipeline  command.Pipeline
	arguments []string
}

// model is a configuration that learns the sample's rules in less than a minute: narrower and with
// fewer negatives than the default, which is meant for larger graphs.
var model = []string{"--dim", "16", "--negatives", "32", "--batch_size", "32", "--epochs", "4"}

// steps returns the commands in their order, without the flags that all of them share.
func steps() []step {
	return []step{
		{"make the sample graph and its tables", preprocess.Pipeline(), nil},
		{"compute distances from the source of every test query", distances.Pipeline(), []string{"--split", "test"}},
		{"train a model", train.Pipeline(), model},
		{"score the held-out queries", score.Pipeline(), []string{"--split", "test"}},
		{"count messages", messages.Pipeline(), []string{"--split", "test"}},
		{"write the report", report.Pipeline(), nil},
	}
}

// Pipeline is `go run ./pipelines/quickstart`.
func Pipeline() command.Pipeline {
	return command.Pipeline{
		Name:    "quickstart",
		Summary: "Runs the commands from preprocess to report in under two minutes: makes a small knowledge graph whose rules are known, trains a model, scores the held-out queries, counts messages and writes the report.",
		Run:     run,
		Several: true,
	}
}

func run(ctx context.Context, e *command.Environment) error {
	begun := time.Now()
	all := steps()
	for i, s := range all {
		arguments, err := s.command(ctx, e)
		if err != nil {
			return err
		}
		line := workspace.Command{Pipeline: s.pipeline.Name, Flags: withoutDefaults(arguments)}
		e.Say("\n[%d of %d] %s: %s", i+1, len(all), s.title, line)
		if err := e.Embed(ctx, s.pipeline, arguments...); err != nil {
			return failed(e, s.pipeline.Name, err)
		}
	}
	return summarize(ctx, e, time.Since(begun))
}

// failed returns a step's error. If --force mends the step, the steps after it need it as well.
func failed(e *command.Environment, name string, err error) error {
	if unusable := new(workspace.Unusable); e.Force || !errors.As(err, &unusable) {
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%s: %w; %s does so with every step", name, err, e.Workspace.Command("quickstart", "--force"))
}

// command returns the step's arguments with those that it shares with this run.
func (s step) command(ctx context.Context, e *command.Environment) ([]string, error) {
	arguments := append([]string{"--workspace", e.Workspace.Root(), "--seed", strconv.FormatInt(e.Seed, 10)}, s.arguments...)
	if e.Force {
		return append(arguments, "--force"), nil
	}
	if s.pipeline.Name != "train" {
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

// withoutDefaults returns the arguments without those that repeat a default.
func withoutDefaults(arguments []string) []string {
	var list []string
	for i := 0; i < len(arguments); i++ {
		switch {
		case arguments[i] == "--workspace" && arguments[i+1] == "./workspace", arguments[i] == "--seed" && arguments[i+1] == "0":
			i++
		default:
			list = append(list, arguments[i])
		}
	}
	return list
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
