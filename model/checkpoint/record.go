package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"tagnet/formats/manifest"
	"tagnet/model/configuration"
	"tagnet/model/ranking"
)

// Record says what a checkpoint's weights are: which model, trained how, and how far.
type Record struct {
	FormatVersion int `json:"format_version"`
	// Configuration, Seed and Validation are what a run must share to continue this one.
	Configuration configuration.Configuration `json:"configuration"`
	Seed          int64                       `json:"seed"`
	Validation    Validation                  `json:"validation"`
	// Epoch is the last finished epoch, from 1; in a partial checkpoint the one under way.
	Epoch int `json:"epoch"`
	// Step counts the solver's steps since the beginning.
	Step int64 `json:"step"`
	// Partial is where inside its epoch a checkpoint stands; nil after a whole epoch.
	Partial *Partial `json:"partial,omitempty"`
	// Loss is the mean loss of the epoch's queries, Messages what was sent for them, and
	// LearningRate what they were learned with. Zero in a partial checkpoint.
	Loss         float64 `json:"loss"`
	Messages     int64   `json:"messages"`
	LearningRate float64 `json:"learning_rate"`
	// Valid is nil where the epoch was not validated.
	Valid *Valid `json:"valid,omitempty"`
	// Vocabulary names what the weights are for.
	Vocabulary Vocabulary `json:"vocabulary"`
	// Weights and Optimizer are the files beside the record.
	Weights   manifest.File `json:"weights"`
	Optimizer manifest.File `json:"optimizer"`
}

// FormatVersion is that of the records that this package writes.
const FormatVersion = 1

// Validation is how a run judges its epochs.
type Validation struct {
	// Every is the number of epochs between validations; the last epoch is always validated.
	Every int `json:"every"`
	// Limit is the number of validation queries asked, drawn evenly over all; 0 asks all.
	Limit int64 `json:"limit"`
}

// Partial is a position inside an epoch.
type Partial struct {
	// Step counts the epoch's batches that are done.
	Step int `json:"step"`
	// Loss is the sum of the losses of the epoch's Queries so far, Messages what they sent.
	Loss     float64 `json:"loss"`
	Queries  int64   `json:"queries"`
	Messages int64   `json:"messages"`
	// Seconds is the time that was spent on the epoch.
	Seconds float64 `json:"seconds"`
}

// Valid is how a model did on the validation queries.
type Valid struct {
	Queries     int64           `json:"queries"`
	Tied        float64         `json:"tied"`
	Pessimistic ranking.Metrics `json:"pessimistic"`
	Mean        ranking.Metrics `json:"mean"`
	Optimistic  ranking.Metrics `json:"optimistic"`
}

// Vocabulary is what the rows of the weights mean.
type Vocabulary struct {
	// Relations are the base relations by id.
	Relations []string `json:"relations"`
	// Entities is the number of entities of the training graph, Hash that of all names, as
	// formats/manifest computes it.
	Entities int    `json:"entities"`
	Hash     string `json:"hash"`
	// Graph is the checksum of the manifest of the graph's folder: equal where every fact is.
	Graph string `json:"graph"`
}

// Name is the checkpoint's file name without its ending.
func (r Record) Name() string {
	if r.Partial != nil {
		return fmt.Sprintf("step-%08d", r.Step)
	}
	return EpochName(r.Epoch)
}

// EpochName is the name of the checkpoint after a whole epoch.
func EpochName(epoch int) string { return fmt.Sprintf("epoch-%03d", epoch) }

// epochOf is the epoch of a name that EpochName gives.
func epochOf(name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, "epoch-")
	epoch, err := strconv.Atoi(digits)
	return epoch, ok && err == nil && EpochName(epoch) == name
}

// isName tells whether a file name without ending is that of a checkpoint.
func isName(name string) bool {
	if _, ok := epochOf(name); ok {
		return true
	}
	digits, ok := strings.CutPrefix(name, "step-")
	step, err := strconv.ParseInt(digits, 10, 64)
	return ok && err == nil && fmt.Sprintf("step-%08d", step) == name
}

// after tells whether r is farther than s.
func (r Record) after(s Record) bool {
	if r.Step != s.Step {
		return r.Step > s.Step
	}
	return r.Partial == nil && s.Partial != nil
}

// encode is the record's file; parse reads it back. The checksum of all before it is its last
// line, so that a changed byte anywhere is noticed.
func (r Record) encode() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encoding the record of %s: %w", r.Name(), err)
	}
	return sealed(text), nil
}

func parse(data []byte) (Record, error) {
	text, err := unsealed(data)
	if err != nil {
		return Record{}, err
	}
	var r Record
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&r); err != nil {
		return Record{}, err
	}
	if r.FormatVersion != FormatVersion {
		return Record{}, fmt.Errorf("its format version is %d, this program reads %d", r.FormatVersion, FormatVersion)
	}
	if err := r.Configuration.Validate(); err != nil {
		return Record{}, errors.Join(errors.New("its configuration is not legal"), err)
	}
	return r, nil
}
