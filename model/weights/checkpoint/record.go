package checkpoint

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/metrics"
	"tagnet/model/graph/kg"
	"tagnet/model/weights/configuration"
)

// Record describes a checkpoint: the model, how it is trained, and how far.
type Record struct {
	FormatVersion int `json:"format_version"`
	// Configuration, Seed and Validation must be equal in a run that resumes from the checkpoint.
	Configuration configuration.Configuration `json:"configuration"`
	Seed          int64                       `json:"seed"`
	Validation    metrics.Validation          `json:"validation"`
	// Rounds must be equal too; it is zero, and left out, with one worker.
	Rounds configuration.Rounds `json:"rounds,omitzero"`
	// Epoch is the last finished epoch, from 1, or 0 before any; in a partial checkpoint the current one.
	Epoch int `json:"epoch"`
	// Step counts the optimizer's steps since the start of the training.
	Step int64 `json:"step"`
	// Partial is the position inside the current epoch; nil after a finished one.
	Partial *Partial `json:"partial,omitempty"`
	// Loss is the mean loss of the epoch's queries, Messages the number of messages sent for them, and
	// LearningRate the epoch's. All are zero in a partial checkpoint.
	Loss         float64 `json:"loss"`
	Messages     int64   `json:"messages"`
	LearningRate float64 `json:"learning_rate"`
	// Valid is nil if the epoch was not validated.
	Valid *metrics.Valid `json:"valid,omitempty"`
	// Vocabulary identifies the graph that the weights were trained on. It is empty where Mixture describes several.
	Vocabulary Vocabulary `json:"vocabulary"`
	Mixture    *Mixture   `json:"mixture,omitempty"`
	// Origin is the file that the training started from, or nil if it started from initial weights. Epoch 0 has
	// the weights of the file.
	Origin *Origin `json:"from,omitempty"`
	// Start has the validation metrics of the weights of Origin, before the first step; nil if they were not validated.
	Start *metrics.Valid `json:"start,omitempty"`
	// Weights and Optimizer are the files beside the record.
	Weights   manifest.File `json:"weights"`
	Optimizer manifest.File `json:"optimizer"`
}

// FormatVersion is the version of the records that this package reads and writes.
const FormatVersion = 1

// checksumKey is the key of a record's checksum, the last one.
const checksumKey = "checksum"

// Partial is a position inside an epoch.
type Partial struct {
	// Step counts the finished batches of the epoch.
	Step int `json:"step"`
	// Loss is the sum of the losses of the epoch's Queries so far, Messages the messages sent for them. LeftOut is how
	// many of these had no negatives, and so no loss.
	Loss     float64 `json:"loss"`
	Queries  int64   `json:"queries"`
	LeftOut  int64   `json:"left_out,omitempty"`
	Messages int64   `json:"messages"`
	// Seconds is the time spent on the epoch.
	Seconds float64 `json:"seconds"`
	// Graphs has the part of each graph of a mixture, in its order; made graphs are the last.
	Graphs []Part `json:"graphs,omitempty"`
}

// MeanLoss returns the mean loss of the queries that were not left out, 0 of none.
func (p Partial) MeanLoss() float64 { return p.Loss / float64(max(1, p.Queries-p.LeftOut)) }

// Part is a graph's part in an epoch of a mixture.
type Part struct {
	// Steps and Queries count its steps and their queries, Loss is the sum of the losses of these.
	Steps   int     `json:"steps"`
	Queries int64   `json:"queries"`
	Loss    float64 `json:"loss"`
}

// Origin identifies weights that were trained elsewhere.
type Origin struct {
	// Model is the name of the model, if tagnet comes with it.
	Model string `json:"model,omitempty"`
	// File is the name of their file without its folder, SHA256 its checksum.
	File   string `json:"file"`
	SHA256 string `json:"sha256"`
	// Relations is the checksum of the file with the names of their relations, empty for weights without relations.
	Relations string `json:"relations_sha256,omitempty"`
}

// Vocabulary identifies the relations that rows of the weights belong to.
type Vocabulary struct {
	// Relations are the base relations by id.
	Relations []string `json:"relations"`
	// Entities is the number of entities of the training graph, Hash the vocabulary hash of formats/workspace/manifest.
	Entities int    `json:"entities"`
	Hash     string `json:"hash"`
	// Graph is the checksum of the manifest of the graph's folder, equal if all facts are; empty for facts in memory.
	Graph string `json:"graph"`
}

// VocabularyOf returns the vocabulary of weights over a graph.
func VocabularyOf(graph *kg.KG) Vocabulary {
	return Vocabulary{Relations: graph.Relations, Entities: len(graph.Train.Entities), Hash: graph.Vocabulary, Graph: graph.Manifest.Checksum}
}

// Name returns the checkpoint's file name without its ending.
func (r Record) Name() string {
	if r.Partial != nil {
		return StepName(r.Step)
	}
	return EpochName(r.Epoch)
}

// StepName returns the name of a partial checkpoint after a number of steps.
func StepName(step int64) string { return fmt.Sprintf("step-%08d", step) }

// EpochName returns the name of the checkpoint of a finished epoch.
func EpochName(epoch int) string { return fmt.Sprintf("epoch-%03d", epoch) }

// epochOf returns the epoch of a name that EpochName returns.
func epochOf(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, "epoch-")
	epoch, err := strconv.Atoi(digits)
	return epoch, ok && err == nil && EpochName(epoch) == name
}

// isName reports whether a checkpoint can have the name.
func isName(name string) bool {
	if _, ok := epochOf(name); ok {
		return true
	}
	digits, ok := strings.CutPrefix(name, "step-")
	step, err := strconv.ParseInt(digits, 10, 64)
	return ok && err == nil && StepName(step) == name
}

// compare orders records as a training writes them: by step; a finished epoch follows a position at the same step.
func (r Record) compare(s Record) int {
	finished := func(r Record) int {
		if r.Partial == nil {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(r.Step, s.Step), cmp.Compare(finished(r), finished(s)))
}

// encode returns the record's file, which parse reads. Its last key is the checksum.
func (r Record) encode() ([]byte, error) {
	text, err := json.MarshalIndent(struct {
		Record
		Checksum string `json:"checksum"`
	}{r, storage.BlankChecksum}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the record of %s: %w", r.Name(), err)
	}
	text = append(text, '\n')
	return text, storage.SetChecksum(text, checksumKey)
}

// parse reads a record, whose checksum, format version and values must be right.
func parse(data []byte) (Record, error) {
	if err := storage.VerifyChecksum(data, checksumKey); err != nil {
		return Record{}, err
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil {
		return Record{}, err
	}
	r.Configuration.Loss = cmp.Or(r.Configuration.Loss, configuration.LossBinary) // of earlier records
	r.Configuration = r.Configuration.Normalized()
	if r.FormatVersion != FormatVersion {
		return Record{}, fmt.Errorf("its format version is %d, this program reads %d", r.FormatVersion, FormatVersion)
	}
	return r, r.Check()
}

// Check returns an error for a record that no training writes.
func (r Record) Check() error {
	if err := r.Configuration.Validate(); err != nil {
		return errors.Join(errors.New("its configuration is invalid"), err)
	}
	if p := r.Partial; p != nil {
		if err := strict.First(strict.Count("partial.step", p.Step), strict.Count("partial.queries", p.Queries),
			strict.Between("partial.left_out", p.LeftOut, 0, p.Queries), strict.Count("partial.messages", p.Messages),
			strict.AtLeastZero("partial.seconds", p.Seconds)); err != nil {
			return err
		}
	}
	if r.Valid != nil {
		if err := strict.Value("valid", *r.Valid); err != nil {
			return err
		}
	}
	if r.Mixture != nil {
		if err := r.Mixture.Check(); err != nil {
			return err
		}
	}
	return strict.First(strict.Between("epoch", r.Epoch, 0, math.MaxInt32), strict.Count("step", r.Step), strict.Count("messages", r.Messages),
		strict.Count("validation.every", r.Validation.Every),
		strict.Count("validation.limit", r.Validation.Limit), strict.Count("validation.patience", r.Validation.Patience),
		strict.Between("rounds.workers", r.Rounds.Workers, 0, configuration.MostWorkers),
		strict.Count("rounds.local_steps", r.Rounds.LocalSteps), r.Vocabulary.check(), r.files())
}

// files returns an error unless the record names its own files: a name is part of a path that is opened.
func (r Record) files() error {
	for key, f := range map[string]manifest.File{".safetensors": r.Weights, ".optimizer.safetensors": r.Optimizer} {
		if f.Name != r.Name()+key {
			return fmt.Errorf("it names the file %q, want %q", f.Name, r.Name()+key)
		}
	}
	return strict.First(strict.Count("weights.size", r.Weights.Size), strict.Count("optimizer.size", r.Optimizer.Size))
}

// check returns an error for a number that no graph has, and for a relation that occurs twice, whose weights
// would be ambiguous.
func (v Vocabulary) check() error {
	seen := make(map[string]bool, len(v.Relations))
	for _, name := range v.Relations {
		if seen[name] {
			return fmt.Errorf("vocabulary.relations has %q twice", name)
		}
		seen[name] = true
	}
	return strict.Between("vocabulary.entities", v.Entities, 0, math.MaxInt32)
}
