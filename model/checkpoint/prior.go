package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"

	"tagnet/formats/check"
	"tagnet/formats/checksum"
	"tagnet/formats/safetensors"
	"tagnet/formats/storage"
	"tagnet/model/calibration"
	"tagnet/model/parameters"
	"tagnet/model/prior"
)

// priorEnding is the ending of the file with what relations of entities add to a checkpoint's scores.
const priorEnding = ".prior.safetensors"

// PriorFormatVersion is the version of the file of a prior.
const PriorFormatVersion = "1"

// The keys of the metadata of that file, and its tensors.
const (
	priorVersionKey  = "format_version"
	priorChecksumKey = "checksum"
	priorWeightsKey  = "weights"
	lambdaTensor     = "lambda"
	constantTensor   = "constant"
)

// numbers are those of the metadata, by key.
func numbers(p *prior.Prior) map[string]any {
	return map[string]any{"beta": &p.Beta, "cap": &p.Cap, "mrr_without": &p.Without, "mrr_with": &p.With}
}

// PriorURL returns the URL of the prior of a checkpoint with the name that its record's Name returns.
func (f Folder) PriorURL(name string) string { return f.url(name + priorEnding) }

// SavePrior writes the prior of a checkpoint, and sets its checksum.
func (f Folder) SavePrior(ctx context.Context, r Record, p *prior.Prior) error {
	metadata := map[string]string{priorVersionKey: PriorFormatVersion, priorWeightsKey: r.Weights.SHA256, priorChecksumKey: checksum.Blank}
	for key, number := range numbers(p) {
		switch n := number.(type) {
		case *float32:
			metadata[key] = strconv.FormatFloat(float64(*n), 'g', -1, 32)
		case *float64:
			metadata[key] = strconv.FormatFloat(*n, 'g', -1, 64)
		}
	}
	n, url := len(p.Constant), f.PriorURL(r.Name())
	file, err := safetensors.Encode([]safetensors.Tensor{
		{Name: lambdaTensor, Shape: []int{n, n}, Data: p.Lambda}, {Name: constantTensor, Shape: []int{n}, Data: p.Constant},
	}, metadata)
	if err == nil {
		err = checksum.Set(file, priorChecksumKey)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", url, err)
	}
	if _, metadata, err = safetensors.Decode(file); err != nil {
		return fmt.Errorf("writing %s: %w", url, err)
	}
	p.Checksum = metadata[priorChecksumKey]
	return storage.WriteFile(ctx, url, file)
}

// Prior returns the prior of a checkpoint for a graph with these base relations, or nil if it has none. The error is a *DamagedError if the
// file is damaged, is that of other weights, or was lost: the calibration tells that there was one.
func (f Folder) Prior(ctx context.Context, r Record, relations []string) (*prior.Prior, error) {
	url := f.PriorURL(r.Name())
	file, err := storage.ReadFile(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, f.lostPrior(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	p, err := parsePrior(file, r)
	if err != nil {
		return nil, &DamagedError{url, err}
	}
	if !slices.Equal(relations, r.Vocabulary.Relations) {
		rows, unknown, _ := parameters.MatchRelations(r.Vocabulary.Relations, relations)
		if len(unknown) > 0 {
			return nil, fmt.Errorf("%s: %w: it never saw the relation %q", url, ErrMismatch, unknown[0])
		}
		p.Counts = p.Over(rows)
	}
	return p, nil
}

// lostPrior returns an error if the calibration of a checkpoint without a prior was fitted to scores with one.
func (f Folder) lostPrior(ctx context.Context, r Record) error {
	text, err := storage.ReadFile(ctx, f.CalibrationURL(r.Name()))
	if err != nil {
		return nil // there is none, or Calibration says what is wrong with it
	}
	if c, err := calibration.Parse(text); err == nil && c.Weights == r.Weights.SHA256 && c.Prior != "" {
		return &DamagedError{f.PriorURL(r.Name()), errors.New("it is missing, and the calibration was fitted to scores with it")}
	}
	return nil
}

func parsePrior(file []byte, r Record) (*prior.Prior, error) {
	if err := checksum.Verify(file, priorChecksumKey); err != nil {
		return nil, err
	}
	tensors, metadata, err := safetensors.Decode(file)
	if err != nil {
		return nil, err
	}
	if version := metadata[priorVersionKey]; version != PriorFormatVersion {
		return nil, fmt.Errorf("its format version is %q, this program reads %q", version, PriorFormatVersion)
	}
	if weights := metadata[priorWeightsKey]; weights != r.Weights.SHA256 {
		return nil, fmt.Errorf("it belongs to weights with SHA-256 %.12s, those of %s have %.12s", weights, r.Name(), r.Weights.SHA256)
	}
	p := &prior.Prior{Checksum: metadata[priorChecksumKey]}
	for key, number := range numbers(p) {
		value, err := strconv.ParseFloat(metadata[key], 64)
		if err != nil || !(value >= 0 && value <= math.MaxFloat32) {
			return nil, fmt.Errorf("its %s is %q, want a number of 0 or more", key, metadata[key])
		}
		switch n := number.(type) {
		case *float32:
			*n = float32(value)
		case *float64:
			*n = value
		}
	}
	n := 2 * len(r.Vocabulary.Relations)
	for _, want := range []struct {
		name  string
		shape []int
		data  *[]float32
	}{{lambdaTensor, []int{n, n}, &p.Lambda}, {constantTensor, []int{n}, &p.Constant}} {
		at := slices.IndexFunc(tensors, func(t safetensors.Tensor) bool { return t.Name == want.name })
		if at < 0 || !slices.Equal(tensors[at].Shape, want.shape) {
			return nil, fmt.Errorf("it lacks the tensor %s of shape %v", want.name, want.shape)
		}
		*want.data = tensors[at].Data
		if err := check.Numbers(want.name, *want.data); err != nil {
			return nil, err
		}
	}
	return p, nil
}
