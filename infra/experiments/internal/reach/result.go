package reach

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"tagnet/formats/storage"
	"tagnet/formats/storage/check"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/metrics"
	"tagnet/formats/workspace/results"
)

// FormatVersion is the version of the files of results.
const FormatVersion = 1

// ResultsFolder is the name of the folder of results in the folder of experiments: SET/PERCENT.json.
const ResultsFolder = "reach/results"

// Result has what was measured of a set with a reach.
type Result struct {
	FormatVersion int `json:"format_version"`
	Set
	Percent int `json:"percent"`
	// TrainingReach is the number of entities of the training graph that a query propagates through, Reach that of the queried graph.
	TrainingReach int `json:"training_reach"`
	Reach         int `json:"reach"`
	// Graph is the checksum of the manifest of the graph.
	Graph string `json:"graph"`
	// Trained is what was trained and scored with the reach, Scored what was only scored with it; Scored is nil for the whole graph.
	Trained *Trained  `json:"trained,omitempty"`
	Scored  *Measured `json:"scored,omitempty"`
	// Commit is that of the program, Modified reports changes beside it, and Machine is where it ran.
	Commit   string          `json:"commit,omitempty"`
	Modified bool            `json:"modified"`
	Machine  results.Machine `json:"machine"`
}

// Trained is a training with its evaluation.
type Trained struct {
	Training Training `json:"training"`
	Measured
}

// Training is a training's cost.
type Training struct {
	Command string `json:"command"`
	// Epochs is the number of epochs, Queries and Messages are those of all epochs.
	Epochs   int   `json:"epochs"`
	Queries  int64 `json:"queries"`
	Messages int64 `json:"messages"`
	// CPUSeconds is the processor time of the command, with its validations, and PeakMiB the peak resident memory.
	CPUSeconds float64 `json:"cpu_seconds"`
	PeakMiB    float64 `json:"peak_mib"`
}

// Measured is one run of score.
type Measured struct {
	Command string `json:"command"`
	// Sample is nil where all test queries are ranked.
	Sample *metrics.Sample `json:"sample,omitempty"`
	metrics.Summary
	// Distinct is the number of pairs of source and relation, and Messages what their propagations sent.
	Distinct int64 `json:"distinct"`
	Messages int64 `json:"messages"`
	// CPUSeconds is the processor time of the command, and PeakMiB the peak resident memory.
	CPUSeconds float64 `json:"cpu_seconds"`
	PeakMiB    float64 `json:"peak_mib"`
}

// Path returns the path of a result.
func (i Item) Path(folder string) string {
	return filepath.Join(folder, i.Name, fmt.Sprint(i.Percent)+".json")
}

// Read reads the result of an item. It is empty if there is none, or if the list has other flags, folders or another limit now.
func (i Item) Read(ctx context.Context, folder string) (Result, error) {
	empty := Result{Set: i.Set, Percent: i.Percent}
	path := i.Path(folder)
	text, err := storage.ReadFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty, nil
	}
	if err != nil {
		return empty, err
	}
	var r Result
	if err := strict.Decode(path, text, &r); err != nil {
		return empty, err
	}
	if err := r.check(i); err != nil {
		return empty, fmt.Errorf("%s:1: %w", path, err)
	}
	if r.Set != i.Set {
		return empty, nil
	}
	return r, nil
}

// lacks reports whether a result is not complete.
func (r Result) lacks() bool { return r.Trained == nil || r.Scored == nil && r.Percent != Whole }

func (r Result) check(i Item) error {
	if r.FormatVersion != FormatVersion {
		return fmt.Errorf("format_version is %d, want %d", r.FormatVersion, FormatVersion)
	}
	if r.Name != i.Name || r.Percent != i.Percent {
		return fmt.Errorf("it is the result of %s/%d", r.Name, r.Percent)
	}
	if r.Trained != nil {
		t := r.Trained.Training
		if err := check.First(check.Between("epochs", t.Epochs, 1, 1<<30), check.Count("queries", t.Queries), check.Count("messages", t.Messages), check.AtLeastZero("cpu_seconds", t.CPUSeconds), check.AtLeastZero("peak_mib", t.PeakMiB)); err != nil {
			return fmt.Errorf("training: %w", err)
		}
		if err := r.Trained.Measured.Check(); err != nil {
			return fmt.Errorf("trained: %w", err)
		}
	}
	if r.Scored != nil {
		if err := r.Scored.Check(); err != nil {
			return fmt.Errorf("scored: %w", err)
		}
	}
	return check.First(check.Count("training_reach", r.TrainingReach), check.Count("reach", r.Reach))
}

// Check returns an error for numbers that no run of score has.
func (m Measured) Check() error {
	if m.Sample != nil {
		if err := m.Sample.Check(); err != nil {
			return fmt.Errorf("sample: %w", err)
		}
	}
	return check.First(check.Between("distinct", m.Distinct, 1, m.Queries), check.Count("messages", m.Messages), m.Summary.Check(), check.AtLeastZero("cpu_seconds", m.CPUSeconds), check.AtLeastZero("peak_mib", m.PeakMiB))
}
