package results

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/metrics"
)

// Path returns the name of the result's file below the folder of all results.
func (r Result) Path() string { return path.Join(r.Dataset, r.Run()+".json") }

// Write writes a result below the folder of all results. The file appears whole or not at all, and replaces an earlier one. The
// same result gives the same bytes.
func Write(ctx context.Context, folder string, r Result) error {
	url := storage.Join(folder, r.Path())
	r.FormatVersion = FormatVersion
	if err := r.Check(); err != nil {
		return fmt.Errorf("writing %s: %w", url, err)
	}
	return storage.WriteJSON(ctx, url, r)
}

// Read reads the file of a result. It is strict: unknown keys, values of another type and numbers out of range are errors that begin with the file
// and the line. A file that does not exist is an error that wraps fs.ErrNotExist.
func Read(ctx context.Context, url string) (Result, error) {
	text, err := storage.ReadFile(ctx, url)
	if err != nil {
		return Result{}, err
	}
	return decode(url, text)
}

func decode(url string, text []byte) (Result, error) {
	var r Result
	if err := strict.Decode(url, text, &r); err != nil {
		return Result{}, err
	}
	if err := r.Check(); err != nil {
		return Result{}, fmt.Errorf("%s:1: %w", url, err)
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, r.Configuration); err != nil {
		return Result{}, fmt.Errorf("%s:1: configuration: %w", url, err)
	}
	r.Configuration = compact.Bytes()
	return r, nil
}

// ReadAll reads all results below a folder, sorted by dataset and run. Every JSON file there has to be a result under its own name. A folder
// that does not exist has none.
func ReadAll(ctx context.Context, folder string) ([]Result, error) {
	urls, err := storage.List(ctx, folder)
	if err != nil {
		return nil, err
	}
	var all []Result
	for _, url := range urls {
		if path.Ext(url) != ".json" {
			continue
		}
		r, err := Read(ctx, url)
		if err != nil {
			return nil, err
		}
		if want := storage.Join(folder, r.Path()); want != url {
			return nil, fmt.Errorf("%s:1: by its dataset, experiment, varied flags and seed its name is %s: move it there", url, want)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Result) int {
		if c := strings.Compare(a.Dataset, b.Dataset); c != 0 {
			return c
		}
		return strings.Compare(a.Run(), b.Run())
	})
	return all, nil
}

var (
	folderName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)
	flagName   = regexp.MustCompile(`^[a-z0-9_]+$`)
	digest     = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Check returns an error for a value that no training writes.
func (r Result) Check() error {
	if r.FormatVersion != FormatVersion {
		return fmt.Errorf("format_version is %d, this program reads %d", r.FormatVersion, FormatVersion)
	}
	for _, name := range []struct{ key, value string }{{"dataset", r.Dataset}, {"experiment", r.Experiment}} {
		if !folderName.MatchString(name.value) {
			return fmt.Errorf("%s is %q: want letters, digits, dots, hyphens and underscores", name.key, name.value)
		}
	}
	for flag, value := range r.Varied {
		if !flagName.MatchString(flag) || value == "" {
			return fmt.Errorf("varied has %q: %q: want a flag of train and its value", flag, value)
		}
	}
	if !digest.MatchString(r.Graph) || !digest.MatchString(r.Weights) {
		return errors.New("graph and weights have to be SHA-256 sums of 64 digits")
	}
	if len(r.Configuration) == 0 || r.Configuration[0] != '{' {
		return errors.New("configuration is not an object")
	}
	if len(r.Commands) == 0 || len(r.Kernels) == 0 {
		return errors.New("commands and kernels need an entry each at least")
	}
	if err := r.Training.Check(); err != nil {
		return err
	}
	if len(r.Evaluation) == 0 {
		return errors.New("evaluation has no protocol")
	}
	for protocol, e := range r.Evaluation {
		if err := e.Check(); err != nil {
			return fmt.Errorf("evaluation.%s: %w", protocol, err)
		}
	}
	return nil
}

// Check returns an error for epochs that no training has.
func (t Training) Check() error {
	if t.Epochs != len(t.Curve) || t.BestEpoch < 1 || t.BestEpoch > t.Epochs {
		return fmt.Errorf("training has %d epochs, %d in its curve, and the best one is %d", t.Epochs, len(t.Curve), t.BestEpoch)
	}
	for i, e := range t.Curve {
		if e.Epoch != i+1 {
			return fmt.Errorf("training.curve[%d] is epoch %d", i, e.Epoch)
		}
		if e.Valid == nil {
			continue
		}
		if err := checkRanked(*e.Valid); err != nil {
			return fmt.Errorf("training.curve[%d].valid: %w", i, err)
		}
	}
	return nil
}

// Check returns an error for numbers that no evaluation has.
func (e Evaluation) Check() error {
	if e.Split == "" || e.Queries < 1 || e.Distinct < 1 || e.Distinct > e.Queries || e.Messages < 0 || e.NBFNetMessages < 0 {
		return fmt.Errorf("split %q, %d queries, %d distinct, %d messages, %d of NBFNet do not fit together", e.Split, e.Queries, e.Distinct, e.Messages, e.NBFNetMessages)
	}
	queries := int64(0)
	for distance, d := range e.ByDistance {
		if err := checkRanked(d.Pessimistic); err != nil || d.Queries < 1 {
			return errors.Join(fmt.Errorf("by_distance has %d queries at %q", d.Queries, distance), err)
		}
		queries += d.Queries
	}
	if len(e.ByDistance) > 0 && queries != e.Queries {
		return fmt.Errorf("by_distance has %d queries, want %d", queries, e.Queries)
	}
	return errors.Join(checkRanked(e.Pessimistic), checkRanked(e.Mean), checkRanked(e.Optimistic))
}

// checkRanked returns an error for numbers that no ranks have.
func checkRanked(m metrics.Metrics) error {
	if !(m.MeanRank >= 1) {
		return fmt.Errorf("mean_rank is %v, want 1 or more", m.MeanRank)
	}
	return m.Check()
}
