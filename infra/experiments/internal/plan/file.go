package plan

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
)

// File is a file of experiments.
type File struct {
	Experiments []Experiment `json:"experiments"`
}

// Experiment stands for a training of each dataset with each combination of the varied values and each seed. Several experiments
// of a file may have the same name.
type Experiment struct {
	// Name begins the names of the runs.
	Name string `json:"name"`
	// Datasets are trained on in this order.
	Datasets []Dataset `json:"datasets"`
	// Flags are flags of train, which change the preset.
	Flags map[string]Value `json:"flags"`
	// Vary has flags of train with the values that they take in turn.
	Vary map[string][]Value `json:"vary"`
	// Seeds are the seeds of the trainings.
	Seeds []int64 `json:"seeds"`
	// Protocols evaluate each training, as values of score --protocol; the paper's if empty.
	Protocols []string `json:"protocols"`
	// Memory is the MiB that one training may use; 0 is DefaultMemory.
	Memory int `json:"memory"`
}

// Dataset is a dataset with the configuration that suits it.
type Dataset struct {
	// Dataset is a name of the catalog, or a folder or file of facts.
	Dataset string `json:"dataset"`
	// Inference is the folder of the inference graph, for a dataset that is not in the catalog.
	Inference string `json:"inference"`
	// Preset is a preset of train, or a file with one; empty for the default configuration.
	Preset string `json:"preset"`
	// Flags are further flags of train, on this dataset only.
	Flags map[string]Value `json:"flags"`
}

// Value is the value of a flag as it stands on a command line. In JSON it is a text, a number, or true or false.
type Value string

// UnmarshalJSON reads a text, a number, or true or false.
func (v *Value) UnmarshalJSON(text []byte) error {
	var quoted string
	switch text[0] {
	case '"':
		if err := json.Unmarshal(text, &quoted); err != nil {
			return err
		}
		if quoted == "" {
			return errors.New("the value is empty")
		}
		*v = Value(quoted)
		return nil
	case '{', '[', 'n':
		return fmt.Errorf("%.20s instead of a text, a number, or true or false", text)
	}
	*v = Value(text)
	return nil
}

// Read reads a file of experiments and returns its runs in their order. Errors about the file begin with its name, the line and the column.
func Read(ctx context.Context, path string) ([]Run, error) {
	text, err := storage.ReadFile(ctx, path)
	if err != nil {
		return nil, err
	}
	return parse(ctx, path, text)
}

func parse(ctx context.Context, path string, text []byte) ([]Run, error) {
	var f File
	if err := strict.Decode(path, text, &f); err != nil {
		return nil, err
	}
	runs, err := f.Runs(ctx)
	var wrong *wrongError
	if errors.As(err, &wrong) {
		return nil, strict.Mistake(path, text, wrong.Error(), wrong.path...)
	}
	return runs, err
}

// wrongError is an error about a place in the file.
type wrongError struct {
	error
	path []string
}

func wrong(path []string, format string, arguments ...any) error {
	return &wrongError{fmt.Errorf(format, arguments...), path}
}
