package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
)

// DefaultRun is the name of the run of a workspace where none is named.
const DefaultRun = "main"

// runName matches the names of runs: folder names that are the same on every file system and in a shell.
var runName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// RunName describes the names that CheckRun accepts.
const RunName = "a folder name of at most 128 letters, digits, dots, hyphens and underscores that begins with a letter or a digit"

// CheckRun returns an error unless name can be the name of a run.
func CheckRun(name string) error {
	if !runName.MatchString(name) {
		return fmt.Errorf("the run %q: want %s", name, RunName)
	}
	return nil
}

// RunsFolder is the folder of all runs below a workspace.
const RunsFolder = "runs"

// RunFolder returns the folder of a run below a workspace. It holds the checkpoints of one training and what was
// made with them.
func RunFolder(run string) string { return RunsFolder + "/" + run }

// FolderOf returns the folder of a run's checkpoints in a workspace, a path or URL.
func FolderOf(workspace, run string) Folder {
	return Folder(storage.Join(workspace, RunFolder(run), FolderName))
}

// Trained reports whether a run of a workspace has a checkpoint, or is being trained.
func Trained(ctx context.Context, workspace string) (bool, error) {
	folder := storage.Join(workspace, RunsFolder)
	urls, err := storage.List(ctx, folder)
	if err != nil {
		return false, err
	}
	for _, url := range urls {
		run, path, _ := strings.Cut(storage.Below(folder, url), "/")
		name, below := strings.CutPrefix(path, FolderName+"/")
		if record, ok := strings.CutSuffix(name, ".json"); below && ok && isName(record) {
			return true, nil
		}
		if below && name == lock.FileName {
			held := new(lock.Held)
			if err := lock.CheckFree(ctx, string(FolderOf(workspace, run))); errors.As(err, &held) {
				return true, nil
			} else if err != nil {
				return false, err
			}
		}
	}
	return false, nil
}
