package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/strict"
	"tagnet/formats/workspace/manifest"
	"tagnet/formats/workspace/safetensors"
)

// State is a checkpoint that training can continue from.
type State struct {
	Record             Record
	Weights, Optimizer []safetensors.Tensor[float32]
}

// Records returns the records of the folder in the order in which training wrote them, and the damaged ones apart.
func (f Folder) Records(ctx context.Context) ([]Record, []*DamagedError, error) {
	urls, err := f.list(ctx)
	if err != nil {
		return nil, nil, err
	}
	var records []Record
	var damaged []*DamagedError
	for _, url := range urls {
		name, ok := strings.CutSuffix(storage.Base(url), ".json")
		if !ok || !isName(name) {
			continue
		}
		r, err := f.record(ctx, name)
		var d *DamagedError
		switch {
		case errors.As(err, &d):
			damaged = append(damaged, d)
		case err != nil:
			return nil, nil, err
		default:
			records = append(records, r)
		}
	}
	slices.SortFunc(records, Record.compare)
	return records, damaged, nil
}

// record reads a record and checks that its file has its name.
func (f Folder) record(ctx context.Context, name string) (Record, error) {
	url := f.url(name + ".json")
	data, err := storage.ReadText(ctx, url)
	if err != nil {
		return Record{}, err
	}
	r, err := parse(data)
	if err != nil {
		return Record{}, &DamagedError{url, err}
	}
	if r.Name() != name {
		return Record{}, &DamagedError{url, fmt.Errorf("it is the record of %s", r.Name())}
	}
	return r, nil
}

// read reads a file of tensors and compares its checksum with the one in the record.
func (f Folder) read(ctx context.Context, file manifest.File) ([]safetensors.Tensor[float32], error) {
	url := f.url(file.Name)
	data, err := storage.ReadFile(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &DamagedError{url, errors.New("it is missing")}
	}
	if err != nil {
		return nil, err
	}
	return decode(url, file, data)
}

// decode decodes a file of tensors that a record describes.
func decode(url string, file manifest.File, data []byte) ([]safetensors.Tensor[float32], error) {
	found := manifest.HashBytes(file.Name, data)
	if found.Size != file.Size || found.SHA256 != file.SHA256 {
		return nil, &DamagedError{url, fmt.Errorf("it has %d bytes with SHA-256 %.12s, its record says %d and %.12s",
			found.Size, found.SHA256, file.Size, file.SHA256)}
	}
	tensors, err := safetensors.Decode(data)
	if errors.Is(err, safetensors.ErrDamaged) {
		return nil, &DamagedError{url, err}
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", url, err)
	}
	for _, t := range tensors {
		if err := strict.Numbers(t.Name, t.Data); err != nil {
			return nil, &DamagedError{url, err}
		}
	}
	return tensors, nil
}

// Decode returns the record and the weights of a checkpoint whose files are in memory. name is the name of the record's
// file, for errors; damage is a *DamagedError.
func Decode(name string, record, weights []byte) (Record, []safetensors.Tensor[float32], error) {
	r, err := parse(record)
	if err != nil {
		return Record{}, nil, &DamagedError{name, err}
	}
	tensors, err := decode(r.Weights.Name, r.Weights, weights)
	return r, tensors, err
}

// Newest returns the farthest checkpoint that is not damaged, and the damaged ones that it skipped. The
// error wraps ErrNone if there are no checkpoints, and a *DamagedError if all are damaged.
func (f Folder) Newest(ctx context.Context) (State, []*DamagedError, error) {
	records, damaged, err := f.Records(ctx)
	if err != nil {
		return State{}, nil, err
	}
	for _, r := range slices.Backward(records) {
		s, err := f.state(ctx, r)
		var d *DamagedError
		switch {
		case errors.As(err, &d):
			damaged = append(damaged, d)
		case err != nil:
			return State{}, nil, err
		default:
			return s, damaged, nil
		}
	}
	if len(damaged) > 0 {
		return State{}, nil, fmt.Errorf("no checkpoint in %s is intact: %w", f, damaged[0])
	}
	return State{}, nil, fmt.Errorf("%w in %s", ErrNone, f)
}

func (f Folder) state(ctx context.Context, r Record) (State, error) {
	s := State{Record: r}
	var err error
	if s.Weights, err = f.read(ctx, r.Weights); err != nil {
		return State{}, err
	}
	s.Optimizer, err = f.read(ctx, r.Optimizer)
	return s, err
}

// State returns the checkpoint with the name that its record's Name returns. The error wraps
// fs.ErrNotExist if it does not exist, and is a *DamagedError if a file of it is damaged.
func (f Folder) State(ctx context.Context, name string) (State, error) {
	r, err := f.record(ctx, name)
	if err != nil {
		return State{}, err
	}
	return f.state(ctx, r)
}

// Load returns the record and the weights of a checkpoint, named as for Record.
func (f Folder) Load(ctx context.Context, name string) (Record, []safetensors.Tensor[float32], error) {
	r, err := f.Record(ctx, name)
	if err != nil {
		return Record{}, nil, err
	}
	weights, err := f.read(ctx, r.Weights)
	return r, weights, err
}

// Record returns the record of a checkpoint: "best", "last", or a name such as epoch-007. The error wraps ErrNone
// or ErrUnknown if it does not exist.
func (f Folder) Record(ctx context.Context, name string) (Record, error) {
	switch name {
	case "best":
		var err error
		if name, err = f.Best(ctx); err != nil {
			return Record{}, err
		}
	case "last":
		records, _, err := f.Records(ctx)
		if err != nil {
			return Record{}, err
		}
		if len(records) == 0 {
			return Record{}, fmt.Errorf("%w in %s", ErrNone, f)
		}
		return records[len(records)-1], nil
	}
	r, err := f.record(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		if alone, e := storage.Exists(ctx, f.url(name+".safetensors")); e == nil && alone {
			return Record{}, fmt.Errorf("%w in %s: %s.safetensors lacks its record, %[3]s.json, beside it: copy both", ErrUnknown, f, name)
		}
		if records, _, e := f.Records(ctx); e == nil && len(records) > 0 {
			const shown = 6 // the first and the last of them
			var names []string
			for _, r := range records {
				names = append(names, r.Name())
			}
			if n := len(names); n > shown {
				names = slices.Concat(names[:shown/2], []string{fmt.Sprintf("%d more", n-shown)}, names[n-shown/2:])
			}
			return Record{}, fmt.Errorf("%w %q in %s; there are best, last, %s", ErrUnknown, name, f, strings.Join(names, ", "))
		}
		return Record{}, fmt.Errorf("%w in %s", ErrNone, f)
	}
	return r, err
}

// Best returns the name of the checkpoint that the file best names. The error wraps ErrNone before the
// first epoch is finished.
func (f Folder) Best(ctx context.Context) (string, error) {
	data, err := storage.ReadText(ctx, f.url(BestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w in %s: no epoch is finished", ErrNone, f)
	}
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(string(data), "\n")
	if _, ok := epochOf(name); !ok {
		return "", &DamagedError{f.url(BestFile), fmt.Errorf("it reads %.40q instead of a name such as %s", name, EpochName(1))}
	}
	return name, nil
}
