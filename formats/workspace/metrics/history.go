package metrics

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
)

// HistoryFile is the name of the file, beside a run's checkpoints.
const HistoryFile = "training.jsonl"

// Epoch is a line of training.jsonl. Seconds and Kernel, which depend on the machine, are recorded
// only here. Seconds includes the time that interrupted runs spent on the epoch.
type Epoch struct {
	Epoch int     `json:"epoch"`
	Loss  float64 `json:"loss"`
	// EqualScores is the loss if an answer and its negatives all have the same score: where a training collapses, its
	// loss tends to it. An epoch without it is of the binary loss, with ln 2.
	EqualScores  float64 `json:"equal_scores,omitzero"`
	Valid        *Valid  `json:"valid,omitempty"`
	LearningRate float64 `json:"learning_rate"`
	Seconds      float64 `json:"seconds"`
	Queries      int64   `json:"queries"`
	// LeftOut is how many of the queries were left out, since they have no negatives. Loss is the mean of the others.
	LeftOut  int64 `json:"left_out,omitempty"`
	Messages int64 `json:"messages"`
	Steps    int64 `json:"steps"`
	// Kernel is the variant of the kernels, or the kind of device, such as "cuda".
	Kernel string `json:"kernel"`
	// Graphs has the part of each graph in a training on several, Trials the validation on each of several.
	Graphs []EpochGraph `json:"graphs,omitempty"`
	Trials []EpochTrial `json:"trials,omitempty"`
}

// Equal returns EqualScores, or that of the binary loss.
func (e Epoch) Equal() float64 { return cmp.Or(e.EqualScores, math.Ln2) }

// Diverged reports whether the epoch shows that its training diverged: it exploded, or the validation MRR is at chance,
// and the loss either more than three times that of equal scores or, after the first epoch, equal to it. A single step
// on few facts, and weights of another graph before their first step, have losses of up to 1.6, which is less.
func (e Epoch) Diverged() bool {
	return e.Exploded() || e.Collapsed() || e.atChance() && e.Loss > 3*e.Equal()
}

// Collapsed reports whether, after the first epoch, the loss is that of equal scores and the validation MRR at chance.
// So it is, too, where a training has hardly begun to learn.
func (e Epoch) Collapsed() bool {
	near := 1.5e-3
	if e.Valid == nil { // nothing but the loss shows it
		near = 1.5e-5
	}
	return e.Epoch > 1 && e.atChance() && math.Abs(e.Loss/e.Equal()-1) < near
}

// atChance reports whether no validation is clearly better than chance.
func (e Epoch) atChance() bool { return e.Valid == nil || e.Valid.AtChance() }

// Exploded reports whether the loss is more than a hundred times that of equal scores, which no training comes back
// from. What is left of the model can still rank better than chance.
func (e Epoch) Exploded() bool { return e.Loss > 100*e.Equal() }

// EpochGraph is the part of a graph in an epoch: the number of its steps and the mean loss of its queries.
type EpochGraph struct {
	Name  string  `json:"name"`
	Steps int     `json:"steps"`
	Loss  float64 `json:"loss"`
}

// EpochTrial is the validation on a graph.
type EpochTrial struct {
	Name string `json:"name"`
	Valid
}

// Check returns an error for numbers that no epoch has.
func (e Epoch) Check() error {
	return strict.First(strict.Optional("valid", e.Valid, strict.Value), strict.Count("epoch", e.Epoch), strict.Count("queries", e.Queries),
		strict.Between("left_out", e.LeftOut, 0, e.Queries), strict.Count("messages", e.Messages), strict.Count("steps", e.Steps),
		strict.AtLeastZero("equal_scores", e.EqualScores), strict.AtLeastZero("seconds", e.Seconds), strict.AtLeastZero("learning_rate", e.LearningRate))
}

// ReadHistory reads training.jsonl, and returns nil if it does not exist. With an error it returns the epochs
// before a line that is damaged.
func ReadHistory(ctx context.Context, url string) ([]Epoch, error) {
	data, err := storage.ReadText(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || len(data) == 0 {
		return nil, err
	}
	var epochs []Epoch
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		var e Epoch
		err := json.Unmarshal(line, &e)
		if err == nil {
			err = e.Check()
		}
		if err != nil {
			return epochs, fmt.Errorf("%s:%d: %w; remove the file, nothing depends on it", url, i+1, err)
		}
		epochs = append(epochs, e)
	}
	return epochs, nil
}

// WriteHistory replaces training.jsonl as a whole, so that a kill leaves no partial line.
func WriteHistory(ctx context.Context, url string, epochs []Epoch) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	for _, e := range epochs {
		if err := encoder.Encode(e); err != nil {
			return fmt.Errorf("writing %s: %w", url, err)
		}
	}
	return storage.WriteFile(ctx, url, text.Bytes())
}
