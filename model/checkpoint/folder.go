package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"tagnet/formats/manifest"
	"tagnet/formats/safetensors"
	"tagnet/formats/storage"
)

// FolderName is the name of the folder of checkpoints below a workspace.
const FolderName = "checkpoints"

// Folder is the URL of a folder of checkpoints.
type Folder string

// ErrNone is wrapped by the error of a folder without checkpoints, ErrUnknown by that of a name which none of a
// folder's checkpoints has.
var (
	ErrNone    = errors.New("there is no checkpoint")
	ErrUnknown = errors.New("there is no checkpoint")
)

// Damaged is a checkpoint that cannot be used: cut short, changed, or with a file missing.
type Damaged struct {
	URL    string
	Reason error
}

// Error names the file and what is wrong with it.
func (d *Damaged) Error() string { return fmt.Sprintf("%s is damaged: %v", d.URL, d.Reason) }

// Unwrap returns the reason.
func (d *Damaged) Unwrap() error { return d.Reason }

// Save writes a checkpoint: the weights, the solver's state, and last the record, whose files
// it fills in. Until the record is there, nothing has changed for a reader.
func (f Folder) Save(ctx context.Context, r Record, weights, optimizer []safetensors.Tensor) error {
	name := r.Name()
	var err error
	if r.Weights, err = f.write(ctx, name+".safetensors", weights); err != nil {
		return err
	}
	if r.Optimizer, err = f.write(ctx, name+".optimizer.safetensors", optimizer); err != nil {
		return err
	}
	data, err := r.encode()
	if err != nil {
		return err
	}
	return storage.WriteFile(ctx, f.url(name+".json"), data)
}

func (f Folder) write(ctx context.Context, name string, tensors []safetensors.Tensor) (manifest.File, error) {
	if err := safetensors.Write(ctx, f.url(name), tensors, nil); err != nil {
		return manifest.File{}, err
	}
	file, err := manifest.HashFile(ctx, f.url(name))
	file.Name = name
	return file, err
}

// Tidy removes what is no longer of use: the solver's states of all but the newest two epochs,
// positions inside an epoch that a finished epoch or a later position has overtaken, and files
// without a record.
func (f Folder) Tidy(ctx context.Context) error {
	records, damaged, err := f.Records(ctx)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	epochs := 0
	for i, r := range slices.Backward(records) {
		name := r.Name()
		if r.Partial != nil {
			if i == len(records)-1 {
				kept[name+".json"], kept[name+".safetensors"], kept[name+".optimizer.safetensors"] = true, true, true
			}
			continue
		}
		epochs++
		kept[name+".json"], kept[name+".safetensors"] = true, true
		kept[name+".optimizer.safetensors"] = epochs <= 2
	}
	for _, d := range damaged { // for a person to look at: the weights may be whole
		for _, ending := range endings {
			kept[strings.TrimSuffix(storage.Base(d.URL), ".json")+ending] = true
		}
	}
	urls, err := storage.List(ctx, string(f))
	if err != nil {
		return err
	}
	for _, url := range urls {
		if base := storage.Base(url); isFile(base) && !kept[base] {
			if err := storage.Remove(ctx, url); err != nil {
				return err
			}
		}
	}
	return nil
}

// endings are those of a checkpoint's files. The record comes first where they are removed:
// without it the others count for nothing.
var endings = []string{".json", ".optimizer.safetensors", ".safetensors"}

// isFile tells whether a file name is one that Save writes.
func isFile(base string) bool {
	for _, ending := range endings {
		if name, ok := strings.CutSuffix(base, ending); ok {
			return isName(name)
		}
	}
	return false
}

// Records reads all records of the folder, in the order in which training reached them. Those
// that are damaged come apart.
func (f Folder) Records(ctx context.Context) ([]Record, []*Damaged, error) {
	urls, err := storage.List(ctx, string(f))
	if err != nil {
		return nil, nil, err
	}
	var records []Record
	var damaged []*Damaged
	for _, url := range urls {
		name, ok := strings.CutSuffix(storage.Base(url), ".json")
		if !ok || !isName(name) {
			continue
		}
		r, err := f.record(ctx, name)
		var d *Damaged
		switch {
		case errors.As(err, &d):
			damaged = append(damaged, d)
		case err != nil:
			return nil, nil, err
		default:
			records = append(records, r)
		}
	}
	slices.SortFunc(records, func(a, b Record) int {
		if c := cmp.Compare(a.Step, b.Step); c != 0 {
			return c
		}
		switch {
		case b.after(a):
			return -1
		case a.after(b):
			return 1
		}
		return 0
	})
	return records, damaged, nil
}

// record reads one record and checks that it is the one its name says.
func (f Folder) record(ctx context.Context, name string) (Record, error) {
	url := f.url(name + ".json")
	data, err := storage.ReadFile(ctx, url)
	if err != nil {
		return Record{}, err
	}
	r, err := parse(data)
	if err != nil {
		return Record{}, &Damaged{url, err}
	}
	if r.Name() != name {
		return Record{}, &Damaged{url, fmt.Errorf("it is the record of %s", r.Name())}
	}
	return r, nil
}

// read reads a file of a checkpoint and checks it against the record.
func (f Folder) read(ctx context.Context, file manifest.File) ([]safetensors.Tensor, error) {
	url := f.url(file.Name)
	found, err := manifest.HashFile(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &Damaged{url, errors.New("it is missing")}
	}
	if err != nil {
		return nil, err
	}
	if found.Size != file.Size || found.SHA256 != file.SHA256 {
		return nil, &Damaged{url, fmt.Errorf("it has %d bytes with SHA-256 %.12s, its record says %d and %.12s",
			found.Size, found.SHA256, file.Size, file.SHA256)}
	}
	tensors, _, err := safetensors.Read(ctx, url)
	if errors.Is(err, safetensors.ErrDamaged) {
		return nil, &Damaged{url, err}
	}
	return tensors, err
}

// State is a checkpoint that training can continue from.
type State struct {
	Record             Record
	Weights, Optimizer []safetensors.Tensor
}

// Newest returns the farthest state that is whole, or ErrNone. What is damaged and therefore
// passed over comes back beside it; if nothing is whole, that is the error.
func (f Folder) Newest(ctx context.Context) (State, []*Damaged, error) {
	records, damaged, err := f.Records(ctx)
	if err != nil {
		return State{}, nil, err
	}
	for _, r := range slices.Backward(records) {
		s := State{Record: r}
		if s.Weights, err = f.read(ctx, r.Weights); err == nil {
			s.Optimizer, err = f.read(ctx, r.Optimizer)
		}
		var d *Damaged
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
		return State{}, nil, fmt.Errorf("no checkpoint in %s is whole: %w", f, damaged[0])
	}
	return State{}, nil, fmt.Errorf("%w in %s", ErrNone, f)
}

// Rewind removes every checkpoint that is farther than r, so that training goes on from there.
func (f Folder) Rewind(ctx context.Context, r Record) error {
	records, _, err := f.Records(ctx)
	if err != nil {
		return err
	}
	for _, later := range records {
		if !later.after(r) {
			continue
		}
		for _, ending := range endings {
			if err := storage.Remove(ctx, f.url(later.Name()+ending)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Clear removes all checkpoints and what was written about them.
func (f Folder) Clear(ctx context.Context) error {
	urls, err := storage.List(ctx, string(f))
	if err != nil {
		return err
	}
	for _, url := range urls {
		if base := storage.Base(url); isFile(base) || base == BestFile {
			if err := storage.Remove(ctx, url); err != nil {
				return err
			}
		}
	}
	return nil
}

// Load reads the record and the weights of one checkpoint, named as Record wants it.
func (f Folder) Load(ctx context.Context, name string) (Record, []safetensors.Tensor, error) {
	r, err := f.Record(ctx, name)
	if err != nil {
		return Record{}, nil, err
	}
	weights, err := f.read(ctx, r.Weights)
	return r, weights, err
}

// Record reads the record of one checkpoint: "best", "last", or a name such as epoch-007.
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
		if names, e := f.names(ctx); e == nil && len(names) > 0 {
			return Record{}, fmt.Errorf("%w %q in %s; there are best, last, %s", ErrUnknown, name, f, strings.Join(names, ", "))
		}
		return Record{}, fmt.Errorf("%w in %s", ErrNone, f)
	}
	return r, err
}

func (f Folder) names(ctx context.Context) ([]string, error) {
	records, _, err := f.Records(ctx)
	var names []string
	for _, r := range records {
		names = append(names, r.Name())
	}
	return names, err
}

// BestFile is the file that names the epoch with the best validation.
const BestFile = "best"

// Best returns the name of the checkpoint that the file best names.
func (f Folder) Best(ctx context.Context) (string, error) {
	data, err := storage.ReadFile(ctx, f.url(BestFile))
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w that is the best yet in %s: no epoch is finished", ErrNone, f)
	}
	if err != nil {
		return "", err
	}
	name := strings.TrimSuffix(string(data), "\n")
	if _, ok := epochOf(name); !ok {
		return "", &Damaged{f.url(BestFile), fmt.Errorf("it reads %.40q instead of a name such as %s", name, EpochName(1))}
	}
	return name, nil
}

// MarkBest writes the file best: the epoch with the highest validation MRR (pessimistic), the
// earliest of equals, or the last epoch if none was validated.
func (f Folder) MarkBest(ctx context.Context) error {
	records, _, err := f.Records(ctx)
	if err != nil {
		return err
	}
	var best *Record
	for _, r := range records {
		switch {
		case r.Partial != nil:
		case best == nil,
			best.Valid == nil,
			r.Valid != nil && r.Valid.Pessimistic.MRR > best.Valid.Pessimistic.MRR:
			best = &r
		}
	}
	if best == nil {
		return fmt.Errorf("%w in %s", ErrNone, f)
	}
	return storage.WriteFile(ctx, f.url(BestFile), []byte(best.Name()+"\n"))
}

func (f Folder) url(name string) string { return storage.Join(string(f), name) }
