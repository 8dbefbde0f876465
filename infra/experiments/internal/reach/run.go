package reach

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/infra/experiments/internal/engine"
	"tagnet/model/weights/checkpoint"
)

// Runner measures items.
type Runner struct {
	// Data is the folder of the data, State that of the workspaces and the logs, and Results that of the results.
	Data, State, Results string
	Program              engine.Program
	Processes            *engine.Processes
	// Memory is the MiB of a process.
	Memory int
}

// Lacking returns what a result lacks, or with force all of it, as a result without that.
func (r *Runner) Lacking(ctx context.Context, i Item, force bool) (result Result, lacks bool, err error) {
	result, err = i.Read(ctx, r.Results)
	if force {
		return Result{Set: i.Set, Percent: i.Percent}, true, nil
	}
	if err != nil {
		return result, false, fmt.Errorf("%w; --force replaces it", err)
	}
	return result, result.lacks(), nil
}

// Measure makes what a result lacks, and writes it after each step.
func (r *Runner) Measure(ctx context.Context, i Item, result *Result) error {
	if err := r.prepare(ctx, i, result); err != nil {
		return err
	}
	if result.Trained == nil {
		t, err := r.train(ctx, i, i.Percent, true)
		if err != nil {
			return err
		}
		m, err := r.score(ctx, i, i.Percent)
		if err != nil {
			return err
		}
		result.Trained = &Trained{t, m}
		if err := r.write(ctx, i, *result); err != nil {
			return err
		}
	}
	if i.Percent == Whole {
		return nil
	}
	if _, err := r.train(ctx, i, Whole, false); err != nil {
		return err
	}
	m, err := r.score(ctx, i, Whole)
	if err != nil {
		return err
	}
	result.Scored = &m
	return r.write(ctx, i, *result)
}

func (r *Runner) write(ctx context.Context, i Item, result Result) error {
	result.FormatVersion = FormatVersion
	return storage.WriteJSON(ctx, i.Path(r.Results), result)
}

// workspace returns the workspace of a set, run the name of the run that is trained with a percentage.
func (r *Runner) workspace(i Item) string { return filepath.Join(r.State, "workspaces", i.Name) }

func run(percent int) string { return fmt.Sprintf("reach-%d", percent) }

// prepare makes the graph, and sets what of it and of the program belongs to a result.
func (r *Runner) prepare(ctx context.Context, i Item, result *Result) error {
	arguments := []string{"preprocess", "--workspace", r.workspace(i), "--memory", fmt.Sprint(r.Memory), "--dataset", filepath.Join(r.Data, i.Dataset)}
	if i.Inference != "" {
		arguments = append(arguments, "--inference", filepath.Join(r.Data, i.Inference))
	}
	if _, err := r.tagnet(ctx, i, arguments...); err != nil {
		return err
	}
	folder := filepath.Join(r.workspace(i), "graph")
	m, err := manifest.Read(ctx, folder)
	if err != nil {
		return err
	}
	if result.TrainingReach, result.Reach, err = r.reaches(ctx, i, i.Percent); err != nil {
		return err
	}
	result.Graph, result.Commit, result.Modified, result.Machine = m.Checksum, r.Program.Commit, r.Program.Modified, engine.Machine()
	result.Machine.Threads = 1
	return nil
}

// reaches returns a share of the entities of the graphs that are trained on and queried, rounded up.
func (r *Runner) reaches(ctx context.Context, i Item, percent int) (training, queried int, err error) {
	d, err := counts.ReadDataset(ctx, filepath.Join(r.workspace(i), "graph"))
	if err != nil {
		return 0, 0, err
	}
	share := func(n int64) int { return int((n*int64(percent) + Whole - 1) / Whole) }
	training, queried = share(d.Entities), share(d.Entities)
	if d.InferenceGraph != nil {
		queried = share(d.InferenceGraph.Entities)
	}
	return training, queried, nil
}

// train trains a model with a reach. Without again, one that is complete is kept. An interrupted training begins again, so that its
// processor time is known.
func (r *Runner) train(ctx context.Context, i Item, percent int, again bool) (t Training, err error) {
	folder := filepath.Join(r.workspace(i), checkpoint.RunFolder(run(percent)))
	arguments := append([]string{"train", "--workspace", r.workspace(i), "--run", run(percent)}, strings.Fields(i.Train)...)
	if percent != Whole {
		reach, _, err := r.reaches(ctx, i, percent)
		if err != nil {
			return t, err
		}
		arguments = append(arguments, "--reach", fmt.Sprint(reach))
	}
	arguments = append(arguments, "--threads", "1", "--device", "cpu", "--memory", fmt.Sprint(r.Memory))
	forced := append(slices.Clone(arguments), "--force")
	if _, err := os.Stat(filepath.Join(folder, "checkpoints", manifest.FileName)); err == nil && !again {
		forced = arguments // does nothing, but for checking that the model is that of these flags
	}
	took, err := r.tagnet(ctx, i, forced...)
	if err != nil {
		return t, err
	}
	epochs, err := metrics.ReadHistory(ctx, filepath.Join(folder, metrics.HistoryFile))
	if err == nil && len(epochs) == 0 {
		err = fmt.Errorf("%s has no epochs", folder)
	}
	t = Training{Command: r.shown(i, arguments), Epochs: len(epochs), CPUSeconds: took.CPUSeconds, PeakMiB: took.PeakMiB}
	for _, e := range epochs {
		t.Queries, t.Messages = t.Queries+e.Queries, t.Messages+e.Messages
	}
	return t, err
}

// score ranks the test queries of an item with the model that was trained with a percentage.
func (r *Runner) score(ctx context.Context, i Item, trained int) (m Measured, err error) {
	reach := 0
	if i.Percent != Whole {
		if _, reach, err = r.reaches(ctx, i, i.Percent); err != nil {
			return m, err
		}
	}
	arguments := []string{"score", "--workspace", r.workspace(i), "--run", run(trained), "--reach", fmt.Sprint(reach)}
	if i.Limit > 0 {
		arguments = append(arguments, "--limit", fmt.Sprint(i.Limit))
	}
	arguments = append(arguments, "--top_k", "0", "--threads", "1", "--device", "cpu", "--memory", fmt.Sprint(r.Memory), "--force")
	took, err := r.tagnet(ctx, i, arguments...)
	if err != nil {
		return m, err
	}
	e, err := storage.ReadJSON[metrics.Evaluation](ctx, filepath.Join(r.workspace(i), checkpoint.RunFolder(run(trained)), "evaluation", "test", metrics.File))
	m = Measured{Command: r.shown(i, arguments), Sample: e.Sample, Summary: e.Summary, Distinct: e.Distinct, Messages: e.Messages, CPUSeconds: took.CPUSeconds, PeakMiB: took.PeakMiB}
	return m, err
}

// shown returns a command with the name of the set as its workspace.
func (r *Runner) shown(i Item, arguments []string) string {
	return strings.ReplaceAll("tagnet "+names.CommandLine(arguments...), r.workspace(i), i.Name)
}

// tagnet runs a command, and appends what it prints to the log of an item.
func (r *Runner) tagnet(ctx context.Context, i Item, arguments ...string) (engine.Usage, error) {
	took, err := r.Processes.Run(filepath.Join(r.State, "logs", i.Name, fmt.Sprint(i.Percent)+".log"), r.Program.Path, arguments...)
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return took, err
}
