package zeroshot

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"

	"tagnet/formats/storage"
	"tagnet/formats/storage/check"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/results"
)

// FormatVersion is the version of the files of results.
const FormatVersion = 1

// ResultsFolder is the name of the folder of results in the folder of experiments: GRAPH/MODEL.json.
const ResultsFolder = "zeroshot/results"

// Result has what was measured of a model on a graph.
type Result struct {
	FormatVersion int `json:"format_version"`
	Input
	ZeroShot Measured `json:"zero_shot"`
	// FineTuned is nil if the model was not measured after a fine-tuning.
	FineTuned *FineTuned `json:"fine_tuned,omitempty"`
}

// Input decides the metrics of a result.
type Input struct {
	Graph    string           `json:"graph"`
	Model    string           `json:"model"`
	Protocol metrics.Protocol `json:"protocol,omitempty"`
	// Weights is the SHA-256 of the file of the weights, Data those of the graph's files by their names below the folder of the data.
	Weights string            `json:"weights"`
	Data    map[string]string `json:"data"`
	// Limit is the number of facts that were queried, evenly taken from the test facts; 0 is all.
	Limit int `json:"limit,omitempty"`
}

// equal reports whether two inputs give the same metrics.
func (i Input) equal(j Input) bool {
	return i.Graph == j.Graph && i.Model == j.Model && i.Protocol == j.Protocol && i.Weights == j.Weights && maps.Equal(i.Data, j.Data) && i.Limit == j.Limit
}

// Measured is one run of score.
type Measured struct {
	metrics.Summary
	// Distinct is the number of pairs of source and relation, and Messages what their propagations sent.
	Distinct int64 `json:"distinct"`
	Messages int64 `json:"messages"`
	// CPUSeconds is the processor time of the command, in user and system mode, with one thread.
	CPUSeconds float64 `json:"cpu_seconds"`
	// Commit is that of the program, empty if the build did not record it, Modified reports changes beside it, and Machine is where it ran.
	Commit   string          `json:"commit,omitempty"`
	Modified bool            `json:"modified"`
	Machine  results.Machine `json:"machine"`
}

// FineTuned is a run of score after a fine-tuning.
type FineTuned struct {
	Epochs int `json:"epochs"`
	// TrainingCPUSeconds is the processor time of train.
	TrainingCPUSeconds float64 `json:"training_cpu_seconds"`
	Measured
}

// Path returns the path of a result.
func Path(folder, graph, model string) string { return filepath.Join(folder, graph, model+".json") }

// ReadResult reads the result of a model on a graph. A file that does not exist is an error that wraps fs.ErrNotExist.
func ReadResult(ctx context.Context, folder, graph, model string) (Result, error) {
	var r Result
	path := Path(folder, graph, model)
	text, err := storage.ReadFile(ctx, path)
	if err != nil {
		return r, err
	}
	if err := strict.Decode(path, text, &r); err != nil {
		return r, err
	}
	if err := r.check(graph, model); err != nil {
		return r, fmt.Errorf("%s:1: %w", path, err)
	}
	return r, nil
}

// write writes a result. The file appears whole or not at all.
func (r Result) write(ctx context.Context, folder string) error {
	r.FormatVersion = FormatVersion
	return storage.WriteJSON(ctx, Path(folder, r.Graph, r.Model), r)
}

func (r Result) check(graph, model string) error {
	if r.FormatVersion != FormatVersion {
		return fmt.Errorf("format_version is %d, want %d", r.FormatVersion, FormatVersion)
	}
	if r.Graph != graph || r.Model != model {
		return fmt.Errorf("it is the result of %s/%s", r.Graph, r.Model)
	}
	if r.FineTuned != nil {
		if err := check.First(check.AtLeastZero("training_cpu_seconds", r.FineTuned.TrainingCPUSeconds), r.FineTuned.Check()); err != nil {
			return fmt.Errorf("fine_tuned: %w", err)
		}
	}
	return check.First(check.Count("limit", r.Limit), r.ZeroShot.Check())
}

// Check returns an error for numbers that no run of score has.
func (m Measured) Check() error {
	if m.Queries < 1 {
		return fmt.Errorf("queries is %d, want 1 or more", m.Queries)
	}
	return check.First(m.Summary.Check(), check.Count("distinct", m.Distinct), check.Count("messages", m.Messages), check.AtLeastZero("cpu_seconds", m.CPUSeconds))
}
