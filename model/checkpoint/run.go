package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tagnet/formats/history"
	"tagnet/formats/lock"
	"tagnet/formats/manifest"
	"tagnet/formats/names"
	"tagnet/formats/storage"
)

// DefaultRun is the run of a workspace that is meant where none is named.
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
		name, of := strings.CutPrefix(path, FolderName+"/")
		if record, ok := strings.CutSuffix(name, ".json"); of && ok && isName(record) {
			return true, nil
		}
		if of && name == lock.FileName {
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

// OldLayout is the error of a workspace of an earlier version, which has the files of its one model at its top
// instead of in the folder of a run.
type OldLayout struct {
	Workspace string
	// Names are the folders and files to move.
	Names []string
}

// CheckLayout returns an *OldLayout for a workspace of an earlier version. Folders that no pipeline wrote, which have
// neither a manifest nor a lock file, are not looked at further.
func CheckLayout(ctx context.Context, workspace string) error {
	var old []string
	for _, name := range []string{FolderName, "evaluation", "messages"} {
		urls, err := storage.List(ctx, storage.Join(workspace, name))
		if err != nil {
			return err
		}
		if slices.ContainsFunc(urls, func(url string) bool {
			base := storage.Base(url)
			return base == manifest.FileName || base == lock.FileName
		}) {
			old = append(old, name)
		}
	}
	if len(old) == 0 {
		return nil
	}
	there, err := storage.Exists(ctx, storage.Join(workspace, history.File))
	if err != nil {
		return err
	}
	if there {
		old = append(old, history.File)
	}
	return &OldLayout{workspace, old}
}

// Error names the command that moves the files to where they belong.
func (e *OldLayout) Error() string {
	return fmt.Sprintf("the workspace %s has the layout of an earlier version, with %s at its top; this command moves them: %s",
		e.Workspace, strings.Join(e.Names, ", "), e.Command())
}

// Command returns the command line that moves the files.
func (e *OldLayout) Command() string {
	to := storage.Join(e.Workspace, RunFolder(DefaultRun))
	words := []string{"mkdir", "-p", names.Quote(to), "&&", "mv"}
	if strings.HasPrefix(e.Workspace, "gs://") {
		words = []string{"gcloud", "storage", "mv"}
	}
	for _, name := range e.Names {
		words = append(words, names.Quote(storage.Join(e.Workspace, name)))
	}
	return strings.Join(append(words, names.Quote(to+"/")), " ")
}
