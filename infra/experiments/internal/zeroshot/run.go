package zeroshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/infra/experiments/internal/engine"
)

// Runner measures models.
type Runner struct {
	// Data is the folder of the data, State that of the workspaces and the logs, and Results that of the results.
	Data, State, Results string
	Program              engine.Program
	Processes            *engine.Processes
	// Memory is the MiB of a process.
	Memory int
	// Limit is the number of test facts that are queried, 0 for all.
	Limit int
	// Tune also measures models after a fine-tuning, on the graphs where the list says so.
	Tune bool
	// Force measures again what has a result.
	Force bool
}

// Item is a graph with a model, to be measured.
type Item struct {
	Graph   Graph
	Weights Weights
	// Result is what is measured so far, ZeroShot and FineTuned what is to be.
	Result              Result
	ZeroShot, FineTuned bool
	// Work is in proportion to the time that this takes, roughly.
	Work float64
}

// ID returns GRAPH/MODEL.
func (i Item) ID() string { return i.Graph.Name + "/" + i.Weights.Name }

// tuningWork is how much longer a fine-tuning takes than scoring, for each fact, roughly.
const tuningWork = 10

// Inspect finds out what is to be measured of a model on a graph. A result of other weights, data or limit does not count. What is measured
// again keeps its metrics until it has new ones, and those of a fine-tuning without Tune.
func (r *Runner) Inspect(ctx context.Context, g Graph, w Weights) (Item, error) {
	i := Item{Graph: g, Weights: w}
	d, err := readDataset(ctx, r.Data, g)
	if err != nil {
		return i, err
	}
	input := Input{Graph: g.Name, Model: w.Name, Protocol: g.Protocol, Weights: w.sha256, Data: d.sums, Limit: r.Limit}
	if r.Limit > 0 {
		input.Protocol, d.queried = "", min(d.queried, r.Limit)
	}
	i.Result, err = ReadResult(ctx, r.Results, g.Name, w.Name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !r.Force {
		return i, fmt.Errorf("%w; --force replaces it", err)
	}
	other := err != nil || !i.Result.equal(input)
	if other {
		i.Result = Result{Input: input}
	}
	i.ZeroShot = other || r.Force
	if i.ZeroShot {
		i.Work = float64(2*d.queried) * math.Sqrt(float64(d.facts))
	}
	if r.Tune && g.Tuned && (r.Force || i.Result.FineTuned == nil || i.Result.FineTuned.Epochs != w.epochsOn(g)) {
		i.FineTuned = true
		i.Work += float64(2*d.queried+2*d.facts*w.epochsOn(g)*tuningWork) * math.Sqrt(float64(d.facts))
	}
	return i, nil
}

// Measure makes what an item lacks, and writes its result after each step. It begins with an empty workspace, so that each model pays for
// the graph between relations.
func (r *Runner) Measure(ctx context.Context, i *Item) error {
	workspace := r.workspace(*i)
	if err := os.RemoveAll(workspace); err != nil {
		return err
	}
	queried := filepath.Join(r.Data, i.Graph.Folder)
	if r.Limit > 0 {
		queried = workspace + "-limited"
		if err := limited(ctx, filepath.Join(r.Data, i.Graph.Folder), queried, r.Limit); err != nil {
			return err
		}
	}
	preprocess := []string{"preprocess", "--workspace", workspace, "--memory", fmt.Sprint(r.Memory), "--dataset"}
	if i.Result.Protocol == metrics.ValidAndTest {
		preprocess = append(preprocess, filepath.Join(r.Data, i.Graph.Training), "--inference", queried)
	} else {
		preprocess = append(preprocess, queried)
	}
	if _, err := r.tagnet(ctx, *i, preprocess...); err != nil {
		return err
	}
	if i.ZeroShot {
		var err error
		if i.Result.ZeroShot, err = r.score(ctx, *i, "main", i.Weights.flag, i.Weights.value); err != nil {
			return err
		}
		if err := i.Result.write(ctx, r.Results); err != nil {
			return err
		}
		i.ZeroShot = false
	}
	if i.FineTuned {
		tuned, err := r.tune(ctx, *i)
		if err != nil {
			return err
		}
		i.Result.FineTuned = &tuned
		if err := i.Result.write(ctx, r.Results); err != nil {
			return err
		}
		i.FineTuned = false
	}
	return nil
}

// tune trains a model further, in a workspace of its own, and scores it. An interrupted training begins again, so that its processor time is
// known.
func (r *Runner) tune(ctx context.Context, i Item) (FineTuned, error) {
	f := FineTuned{Epochs: i.Weights.epochsOn(i.Graph)}
	workspace := r.workspace(i) + "-tuned"
	if err := os.RemoveAll(workspace); err != nil {
		return f, err
	}
	folder := i.Graph.Folder
	if i.Graph.Training != "" {
		folder = i.Graph.Training
	}
	if _, err := r.tagnet(ctx, i, "preprocess", "--workspace", workspace, "--memory", fmt.Sprint(r.Memory), "--dataset", filepath.Join(r.Data, folder)); err != nil {
		return f, err
	}
	took, err := r.tagnet(ctx, i, "train", "--workspace", workspace, "--from", i.Weights.value, "--epochs", fmt.Sprint(f.Epochs), "--threads", "1", "--device", "cpu", "--memory", fmt.Sprint(r.Memory))
	if err != nil {
		return f, err
	}
	f.TrainingCPUSeconds = took.CPUSeconds
	f.Measured, err = r.score(ctx, i, "tuned", "--checkpoint", filepath.Join(workspace, "runs", "main", "checkpoints", "best"))
	return f, err
}

// score scores the queries of an item with the weights that a flag of score names.
func (r *Runner) score(ctx context.Context, i Item, run, flag, value string) (Measured, error) {
	protocol := metrics.Test
	if i.Result.Protocol != "" {
		protocol = i.Result.Protocol
	}
	m := Measured{Commit: r.Program.Commit, Modified: r.Program.Modified, Machine: engine.Machine()}
	m.Machine.Threads = 1
	took, err := r.tagnet(ctx, i, "score", "--workspace", r.workspace(i), "--run", run, flag, value, "--protocol", string(protocol),
		"--top_k", "0", "--threads", "1", "--device", "cpu", "--memory", fmt.Sprint(r.Memory))
	if err != nil {
		return m, err
	}
	m.CPUSeconds = took.CPUSeconds
	e, err := storage.ReadJSON[metrics.Evaluation](ctx, filepath.Join(r.workspace(i), "runs", run, "evaluation", string(protocol), metrics.File))
	m.Summary, m.Distinct, m.Messages = e.Summary, e.Distinct, e.Messages
	return m, err
}

// workspace returns the workspace of an item.
func (r *Runner) workspace(i Item) string {
	return filepath.Join(r.State, "workspaces", i.Graph.Name, i.Weights.Name)
}

// tagnet runs a command, and appends what it prints to the log of an item.
func (r *Runner) tagnet(ctx context.Context, i Item, arguments ...string) (engine.Usage, error) {
	took, err := r.Processes.Run(filepath.Join(r.State, "logs", i.Graph.Name, i.Weights.Name+".log"), r.Program.Path, arguments...)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return took, err
}
