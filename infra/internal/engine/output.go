package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/workspace/counts"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/weights/checkpoint"
)

// checkpoints returns the folder of the checkpoints of a command's training.
func (e *Engine) checkpoints(c Command) checkpoint.Folder {
	return checkpoint.Folder(filepath.Join(e.work(), c.Training, "checkpoints"))
}

// resumed reports whether a training was begun before, and returns the arguments that resume it.
func (e *Engine) resumed(ctx context.Context, c Command) (begun bool, arguments []string, err error) {
	if c.Training == "" {
		return false, nil, nil
	}
	folder := e.checkpoints(c)
	records, _, err := folder.Records(ctx)
	if err != nil || len(records) == 0 {
		return false, nil, err
	}
	if !e.complete(ctx, c) {
		return true, []string{"--resume"}, nil
	}
	return true, nil, nil
}

// complete reports whether the checkpoints of a command's training are complete.
func (e *Engine) complete(ctx context.Context, c Command) bool {
	_, err := manifest.Read(ctx, string(e.checkpoints(c)))
	return !errors.Is(err, fs.ErrNotExist)
}

// deviceLine matches what train prints about the device that it computes on.
var deviceLine = regexp.MustCompile(`cuda:\d+ \(([^)\n]+)\)`)

// read adds what a command wrote to its measurements and the result.
func (e *Engine) read(ctx context.Context, c Command, printed string, m *Measured, result *Result) (err error) {
	if c.Training != "" {
		if m.Training, err = e.readTraining(ctx, c); err != nil {
			return err
		}
		result.Kernels = nil
		for _, epoch := range m.Training.Curve {
			if !slices.Contains(result.Kernels, epoch.Kernel) {
				result.Kernels = append(result.Kernels, epoch.Kernel)
			}
		}
		if found := deviceLine.FindStringSubmatch(printed); found != nil && slices.Contains(result.Kernels, "cuda") {
			result.Machine.Device = found[1]
		}
	}
	if c.Evaluation != "" {
		if m.Evaluation, err = readEvaluation(ctx, filepath.Join(e.work(), c.Evaluation)); err != nil {
			return err
		}
	}
	if c.Graph == "" {
		return nil
	}
	d, err := counts.ReadDataset(ctx, filepath.Join(e.work(), c.Graph))
	if result.Graph = (&Graph{d.Entities, d.Edges}); d.InferenceGraph != nil {
		result.Graph = &Graph{d.InferenceGraph.Entities, d.InferenceGraph.Edges}
	}
	return err
}

// readTraining returns the epochs of a run, and its best checkpoint.
func (e *Engine) readTraining(ctx context.Context, c Command) (*Training, error) {
	epochs, err := metrics.ReadHistory(ctx, filepath.Join(e.work(), c.Training, metrics.HistoryFile))
	if err != nil {
		return nil, err
	}
	t := &Training{Epochs: len(epochs)}
	for _, e := range epochs {
		one := Epoch{Epoch: e.Epoch, Loss: e.Loss, LearningRate: e.LearningRate, Seconds: e.Seconds, Messages: e.Messages, Kernel: e.Kernel}
		if e.Valid != nil {
			one.Valid = &e.Valid.Pessimistic
		}
		t.Curve = append(t.Curve, one)
		t.Seconds, t.Queries, t.Messages, t.Steps = t.Seconds+e.Seconds, t.Queries+e.Queries, t.Messages+e.Messages, e.Steps
	}
	name, err := e.checkpoints(c).Best(ctx)
	if err != nil {
		return nil, err
	}
	best, err := e.checkpoints(c).Record(ctx, name)
	t.BestEpoch, t.Weights = best.Epoch, best.Weights.SHA256
	return t, err
}

// readEvaluation returns the metrics in a folder: by distance those of all queries by the paper's protocol.
func readEvaluation(ctx context.Context, folder string) (*Evaluation, error) {
	m, err := storage.ReadJSON[metrics.Evaluation](ctx, filepath.Join(folder, metrics.File))
	e := &Evaluation{Sample: m.Sample, Summary: m.Summary, Distinct: m.Distinct, Messages: m.Messages}
	if m.Protocol == "" && m.Sample == nil {
		e.ByDistance = map[string]Distance{}
		for name, d := range m.ByDistance {
			e.ByDistance[name] = Distance{d.Queries, d.Pessimistic}
		}
	}
	return e, err
}

// prints reports whether a text has a number, with or without commas.
func prints(text string, n int64) bool {
	return regexp.MustCompile(fmt.Sprintf(`(^|[^0-9])%d($|[^0-9])`, n)).MatchString(strings.ReplaceAll(text, ",", ""))
}
