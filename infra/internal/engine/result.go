package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/metrics"
)

// FormatVersion is the version of result files.
const FormatVersion = 2

// Result is the content of a result file: what the commands of a run took, and what they wrote.
type Result struct {
	FormatVersion int `json:"format_version"`
	// Run is the name of the run, and of its file without .json below the folder of the results.
	Run string `json:"run"`
	// Inputs are the values that decide the metrics, such as hyperparameters, a seed and checksums of
	// files, by their names.
	Inputs map[string]string `json:"inputs,omitempty"`
	// Commit is that of the program, empty if it is not known, and Modified reports changes that are not in the commit.
	Commit   string  `json:"commit,omitempty"`
	Modified bool    `json:"modified"`
	Machine  Machine `json:"machine"`
	// Kernels are the variants of the kernels that computed: of a training those of its epochs.
	Kernels []string `json:"kernels,omitempty"`
	// Graph is the size of the graph that is queried, nil if it is not known.
	Graph *Graph `json:"graph,omitempty"`
	// Commands has the measured commands by their names in the run.
	Commands map[string]Measured `json:"commands"`
}

// Machine describes the hardware. Device is the model of the CUDA device, empty without one.
type Machine struct {
	Processor string `json:"processor"`
	Device    string `json:"device,omitempty"`
	Cores     int    `json:"cores"`
	OS        string `json:"os"`
	Arch      string `json:"arch"`
}

// Graph is the size of a graph. Edges include the inverse ones.
type Graph struct {
	Entities int64 `json:"entities,omitempty"`
	Edges    int64 `json:"edges,omitempty"`
}

// Measured is a command with what it took: elapsed time, processor time in user and system mode, and peak resident
// memory. Zero stands for what is not known.
type Measured struct {
	Command    string  `json:"command,omitempty"`
	Seconds    float64 `json:"seconds,omitempty"`
	CPUSeconds float64 `json:"cpu_seconds,omitempty"`
	PeakMiB    float64 `json:"peak_mib,omitempty"`
	// Load is the mean number of processes that wanted to run in the minute before.
	Load float64 `json:"load,omitempty"`
	// Made is the result of a function of the list.
	Made       json.RawMessage `json:"made,omitempty"`
	Training   *Training       `json:"training,omitempty"`
	Evaluation *Evaluation     `json:"evaluation,omitempty"`
}

// Training summarizes a training. Seconds is the time of all epochs with their validations, Messages what the forward
// passes of all steps sent.
type Training struct {
	Epochs int `json:"epochs"`
	// BestEpoch is the epoch of the best checkpoint, and Weights the SHA-256 of its weights.
	BestEpoch int     `json:"best_epoch,omitempty"`
	Weights   string  `json:"weights,omitempty"`
	Steps     int64   `json:"steps,omitempty"`
	Queries   int64   `json:"queries,omitempty"` // the earliest results lack it
	Seconds   float64 `json:"seconds,omitempty"`
	Messages  int64   `json:"messages"`
	Curve     []Epoch `json:"curve,omitempty"`
}

// Epoch is one epoch of a training. Valid has the pessimistic metrics on the validation split, and is nil
// without a validation.
type Epoch struct {
	Epoch        int              `json:"epoch"`
	Loss         float64          `json:"loss"`
	LearningRate float64          `json:"learning_rate"`
	Seconds      float64          `json:"seconds"`
	Messages     int64            `json:"messages"`
	Kernel       string           `json:"kernel"`
	Valid        *metrics.Metrics `json:"valid,omitempty"`
}

// Evaluation has the metrics of a split by one protocol. Distinct is the number of pairs of source and relation, each
// of which is propagated once, and Messages what they sent.
type Evaluation struct {
	Sample *metrics.Sample `json:"sample,omitempty"` // nil where all queries are ranked
	metrics.Summary
	Distinct int64 `json:"distinct"`
	Messages int64 `json:"messages"`
	// ByDistance divides the queries by the edges from source to answer, "1" and so on, or hop.Key. The earliest
	// results lack it.
	ByDistance map[string]Distance `json:"by_distance,omitempty"`
}

// Distance has the metrics of the queries whose answer is so many edges away.
type Distance struct {
	Queries     int64           `json:"queries"`
	Pessimistic metrics.Metrics `json:"pessimistic"`
}

func file(folder, run string) string { return filepath.Join(folder, filepath.FromSlash(run)+".json") }

// Read reads the result of a run, nil if there is none. Unknown keys and numbers that no command writes are errors that
// begin with the file.
func Read(ctx context.Context, folder, run string) (*Result, error) {
	path := file(folder, run)
	text, err := storage.ReadFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if err := strict.Decode(path, text, r); err != nil {
		return nil, err
	}
	if r.FormatVersion != FormatVersion || r.Run != run {
		return nil, fmt.Errorf("%s:1: it is the result of %s in version %d, want %s in version %d", path, r.Run, r.FormatVersion, run, FormatVersion)
	}
	for name, m := range r.Commands {
		if err := m.check(); err != nil {
			return nil, fmt.Errorf("%s:1: commands.%s: %w", path, name, err)
		}
	}
	return r, nil
}

// write writes a result below a folder. The file appears whole or not at all.
func (r Result) write(ctx context.Context, folder string) error {
	r.FormatVersion = FormatVersion
	return storage.WriteJSON(ctx, file(folder, r.Run), r)
}

// check returns an error for numbers that no command writes.
func (m Measured) check() error {
	if t := m.Training; t != nil && (t.Epochs < 1 || t.BestEpoch > t.Epochs || len(t.Curve) > 0 && len(t.Curve) != t.Epochs) {
		return fmt.Errorf("a training of %d epochs has %d in its curve, the best of which is %d", t.Epochs, len(t.Curve), t.BestEpoch)
	}
	if e := m.Evaluation; e != nil {
		if err := strict.First(strict.Between("distinct", e.Distinct, 1, e.Queries), strict.Count("messages", e.Messages), e.Summary.Check()); err != nil {
			return err
		}
	}
	return strict.First(strict.AtLeastZero("seconds", m.Seconds), strict.AtLeastZero("cpu_seconds", m.CPUSeconds), strict.AtLeastZero("peak_mib", m.PeakMiB))
}

// Differences returns in what a result differs from the inputs that a run has now: "delta 3 instead of 2". An input
// that the result lacks, since it is younger, was empty, 0 or false.
func (r Result) Differences(inputs map[string]string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		now := inputs[name]
		then, known := r.Inputs[name]
		if then != now && (known || now != "0" && now != "false") {
			list = append(list, fmt.Sprintf("%s %q instead of %q", name, then, now))
		}
	}
	return list
}
