package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"tagnet/formats/names"
	"tagnet/formats/storage"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/results"
	"tagnet/infra/experiments/internal/plan"
	"tagnet/model/weights/checkpoint"
)

// collect returns the result of a run whose training and evaluations are complete.
func (f Folders) collect(ctx context.Context, r plan.Run, by made) (results.Result, error) {
	result := results.Result{
		FormatVersion: results.FormatVersion, Dataset: r.Dataset, Experiment: r.Experiment, Varied: r.Varied, Seed: r.Seed,
		Configuration: json.RawMessage(r.Configuration.String()), Validation: r.Validation,
		Commands: f.commands(r), Evaluation: map[string]results.Evaluation{},
	}
	best, err := f.best(ctx, r)
	if err != nil {
		return result, err
	}
	var edges int64
	if result.Graph, result.Inference, edges, err = f.graph(ctx, r); err != nil {
		return result, err
	}
	if of := best.Vocabulary.Graph; of != result.Graph {
		return result, fmt.Errorf("%s was trained on another graph than that of %s", f.checkpoints(r), f.Workspace(r.Dataset))
	}
	result.Weights = best.Weights.SHA256
	if result.Training, err = f.history(ctx, r); err != nil {
		return result, err
	}
	result.Training.BestEpoch = best.Epoch
	for _, e := range result.Training.Curve {
		if !slices.Contains(result.Kernels, e.Kernel) {
			result.Kernels = append(result.Kernels, e.Kernel)
		}
	}
	result.Commit, result.Modified, result.Machine, result.Training.CPUSeconds = by.program.Commit, by.program.Modified, by.machine, by.cpuSeconds
	result.Machine.Device = deviceOf(result.Kernels, result.Machine.Device)
	for _, protocol := range r.Protocols {
		e, err := f.metrics(ctx, r, protocol)
		if err != nil {
			return result, err
		}
		e.NBFNetMessages = e.Distinct * int64(r.Configuration.Layers) * edges
		e.Seconds = by.scored[protocol]
		result.Evaluation[protocol] = e
	}
	return result, nil
}

// history returns the epochs of training.jsonl.
func (f Folders) history(ctx context.Context, r plan.Run) (results.Training, error) {
	var t results.Training
	path := filepath.Join(f.Workspace(r.Dataset), checkpoint.RunFolder(r.Name()), metrics.HistoryFile)
	epochs, err := metrics.ReadHistory(ctx, path)
	if err == nil && len(epochs) == 0 {
		err = fmt.Errorf("%s has no epochs", path)
	}
	for _, e := range epochs {
		one := results.Epoch{Epoch: e.Epoch, Loss: e.Loss, LearningRate: e.LearningRate, Seconds: e.Seconds, Messages: e.Messages, Kernel: e.Kernel}
		if e.Valid != nil {
			one.Valid = &e.Valid.Pessimistic
		}
		t.Curve = append(t.Curve, one)
		t.Epochs, t.Steps = e.Epoch, e.Steps
		t.Seconds += e.Seconds
		t.Messages += e.Messages
	}
	return t, err
}

// metrics returns the metrics of a protocol.
func (f Folders) metrics(ctx context.Context, r plan.Run, protocol string) (results.Evaluation, error) {
	m, err := storage.ReadJSON[struct {
		results.Evaluation
		Negatives int64           `json:"negatives"`
		Sample    *metrics.Sample `json:"sample"`
	}](ctx, filepath.Join(f.evaluation(r, protocol), metrics.File))
	if protocol != results.TestProtocol {
		m.ByDistance = nil
	}
	if err == nil && m.Sample != nil {
		err = fmt.Errorf("%s ranks a sample of the queries: score --force without --limit ranks all", f.evaluation(r, protocol))
	}
	if m.Negatives > 0 {
		m.Candidates = m.Negatives + 1
	}
	return m.Evaluation, err
}

// commands returns the command lines that repeat a run in a folder with its dataset's workspace.
func (f Folders) commands(r plan.Run) []string {
	lines := [][]string{preprocessArguments(r, r.Dataset), trainArguments(r, r.Dataset)}
	for _, protocol := range r.Protocols {
		lines = append(lines, scoreArguments(r, r.Dataset, protocol))
	}
	text := make([]string, len(lines))
	for i, line := range lines {
		text[i] = "tagnet " + names.CommandLine(line...)
	}
	return text
}

func preprocessArguments(r plan.Run, workspace string) []string {
	arguments := []string{"preprocess", "--workspace", workspace, "--dataset", r.Source}
	if r.Inference != "" {
		arguments = append(arguments, "--inference", r.Inference)
	}
	return arguments
}

func trainArguments(r plan.Run, workspace string) []string {
	return slices.Concat([]string{"train", "--workspace", workspace, "--run", r.Name()}, r.Flags, []string{"--seed", fmt.Sprint(r.Seed)})
}

func scoreArguments(r plan.Run, workspace, protocol string) []string {
	arguments := []string{"score", "--workspace", workspace, "--run", r.Name()}
	if protocol == results.TestProtocol {
		return append(arguments, "--split", "test")
	}
	return append(arguments, "--protocol", protocol)
}
