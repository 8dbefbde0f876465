package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tagnet/formats/storage"
)

// FolderName is the name of the folder of checkpoints below a run's folder.
const FolderName = "checkpoints"

// BestFile is the name of the file that names the epoch with the best validation.
const BestFile = "best"

// Folder is the path or URL of a folder of checkpoints.
type Folder string

// ErrNone is wrapped by the error of a folder without checkpoints, ErrUnknown by the error of a name that none of
// a folder's checkpoints has.
var (
	ErrNone    = errors.New("there is no checkpoint")
	ErrUnknown = errors.New("there is no checkpoint")
)

// DamagedError is the error of a checkpoint that cannot be used: a file is cut short, changed or missing.
type DamagedError struct {
	// URL is the damaged file.
	URL    string
	Reason error
}

// Error names the file and what is wrong with it.
func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged: %v", e.URL, e.Reason) }

// Unwrap returns the reason.
func (e *DamagedError) Unwrap() error { return e.Reason }

// endings are the endings of a checkpoint's files, the record's first: it is removed first, since without it
// the other files are ignored. The longer of two endings comes first.
var endings = []string{".json", ".optimizer.safetensors", ".safetensors"}

// WithoutEnding returns the name of a checkpoint, given its name or a file's.
func WithoutEnding(name string) string {
	for _, ending := range endings {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// isFile reports whether base is the name of a file that Save writes.
func isFile(base string) bool {
	for _, ending := range endings {
		if name, ok := strings.CutSuffix(base, ending); ok && isName(name) {
			return true
		}
	}
	return false
}

// Shard returns the folder, inside this one, of the checkpoints with which a shard ends the rounds of a
// training by several workers.
func (f Folder) Shard(shard int) Folder {
	return Folder(storage.Join(f.shards(), fmt.Sprintf("shard-%03d", shard)))
}

// RemoveShards removes the folders that Shard returns.
func (f Folder) RemoveShards(ctx context.Context) error { return storage.RemoveAll(ctx, f.shards()) }

func (f Folder) shards() string { return f.url("rounds") }

// list returns the URLs of the folder's files, without its shards' files.
func (f Folder) list(ctx context.Context) ([]string, error) {
	urls, err := storage.List(ctx, string(f))
	return slices.DeleteFunc(urls, func(url string) bool { return strings.HasPrefix(url, f.shards()+"/") }), err
}

func (f Folder) url(name string) string { return storage.Join(string(f), name) }
