package pretrained

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"tagnet/formats/input/pytorch"
	"tagnet/formats/storage"
	"tagnet/model/weights/checkpoint"
	"tagnet/model/zoo"
)

// Ref names the weights of a trained model.
type Ref struct {
	// Folder has the checkpoints of a run, or is "". Without it the weights belong to a model that
	// was trained elsewhere.
	Folder checkpoint.Folder
	// Name is best, last, or the number or name of an epoch in Folder; the path or URL of a checkpoint's file in any
	// folder, or of a file of PyTorch with ULTRA's weights; or the name of a model of package zoo, in upper or lower
	// case. Without Folder a file is one of PyTorch unless it ends with .safetensors or is named best.
	Name string
}

// FileError is the error of a file that cannot be used, of a Ref without a folder or of PyTorch.
type FileError struct {
	// URL is the file.
	URL    string
	Reason error
	// Other reports that the user has to name another file, rather than mend this one.
	Other bool
}

// Error names the file and what is wrong with it.
func (e *FileError) Error() string { return e.URL + ": " + e.Reason.Error() }

// Unwrap returns the reason.
func (e *FileError) Unwrap() error { return e.Reason }

// IsNamed reports whether the name is a model's of package zoo.
func (r Ref) IsNamed() bool {
	return slices.ContainsFunc(zoo.Names, func(known string) bool { return strings.EqualFold(known, r.Name) })
}

// IsPyTorch reports whether the name is a file of PyTorch, by its ending.
func (r Ref) IsPyTorch() bool {
	return strings.HasSuffix(r.Name, ".pth") || strings.HasSuffix(r.Name, ".pt")
}

// Checkpoint returns the folder and the name, for checkpoint.Folder.Record, of a Ref to a checkpoint.
func (r Ref) Checkpoint() (folder checkpoint.Folder, name string) {
	folder, name = cmp.Or(r.Folder, "."), r.Name
	if i := strings.LastIndexAny(name, "/\\"); i >= 0 {
		folder, name = checkpoint.Folder(name[:max(i, 1)]), name[i+1:] // the root keeps its slash
	}
	name = checkpoint.WithoutEnding(name)
	if epoch, err := strconv.Atoi(name); err == nil {
		name = checkpoint.EpochName(epoch)
	}
	return folder, path.Clean(name)
}

// Open reads the weights. Errors of files are a *FileError, of checkpoints in a folder as
// checkpoint.Folder.Load returns them.
func (r Ref) Open(ctx context.Context) (*Weights, error) {
	isCheckpoint := r.Folder != "" || strings.HasSuffix(r.Name, ".safetensors") || storage.Base(r.Name) == checkpoint.BestFile
	switch {
	case r.IsNamed():
		return openNamed(r.Name)
	case isCheckpoint && !r.IsPyTorch():
		return r.openCheckpoint(ctx)
	}
	data, err := read(ctx, r.Name)
	if err != nil {
		return nil, err
	}
	file, err := pytorch.Open(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, &FileError{URL: r.Name, Reason: err}
	}
	w, err := ofULTRA(r.Name, data, file)
	if err != nil {
		return nil, &FileError{URL: r.Name, Reason: err}
	}
	return w, nil
}

// mostBytes is the size of the largest file of PyTorch that is read. It is held in memory.
const mostBytes = 1 << 30

// read returns the content of a file. What is not a regular file is an error: it may have no end.
func read(ctx context.Context, url string) ([]byte, error) {
	if info, err := os.Stat(url); err == nil && !info.Mode().IsRegular() {
		return nil, &FileError{url, fmt.Errorf("it is not a regular file (%s)", info.Mode().Type()), true}
	}
	file, err := storage.OpenRandom(ctx, url)
	if err != nil {
		return nil, &FileError{URL: url, Reason: err}
	}
	defer file.Close()
	if file.Size() > mostBytes {
		return nil, &FileError{url, fmt.Errorf("it has %d bytes, at most %d are read", file.Size(), mostBytes), true}
	}
	content := make([]byte, file.Size())
	if _, err := io.ReadFull(file, content); err != nil {
		return nil, &FileError{URL: url, Reason: err}
	}
	return content, nil
}
