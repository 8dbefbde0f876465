package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
)

// ReplacementFolder returns the folder in which the replacement of another is made, both below the workspace.
func ReplacementFolder(folder string) string { return folder + ".new" }

// Replacement makes a folder from another, whose place it takes when it is complete. Until then the other one can be used, and nothing of
// it is changed.
type Replacement struct {
	// Old is the folder that is replaced, New the stage of the one that replaces it, in ReplacementFolder. What is written into
	// New is written in the context of the guard of its lock.
	Old, New Stage
}

// Begin takes the locks of both folders. It returns true if the new folder is complete: an earlier run was interrupted before it took
// the place of the old one.
func (r *Replacement) Begin(ctx context.Context, force bool) (made bool, err error) {
	if err := r.Old.Resume(ctx, force); err != nil {
		return false, err
	}
	made, err = r.New.Replace(ctx, force)
	if err != nil {
		r.release()
	}
	return made, err
}

// Finish puts the complete new folder in the place of the old one, after a run that was killed meanwhile, which Interrupted reports.
func (r *Replacement) Finish(ctx context.Context, force bool) error {
	if err := r.Old.Resume(ctx, force); err != nil {
		return err
	}
	return r.Take(ctx)
}

// Abandon removes what was written of the new folder, as Stage.Abandon does, and leaves the old one as it was.
func (r *Replacement) Abandon(workers bool) {
	r.New.Abandon(workers)
	r.release()
}

// release releases the lock of the old folder. It does its best: that of an ended process is as good as none.
func (r *Replacement) release() {
	ctx, cancel := context.WithTimeout(context.Background(), parting)
	defer cancel()
	_ = r.Old.lock.Release(ctx)
}

// Publish completes the new folder as Stage.Publish does, and puts it in the place of the old one.
func (r *Replacement) Publish(ctx context.Context, rows map[string]int64) error {
	if err := r.New.Publish(ctx, rows); err != nil {
		r.release()
		return err
	}
	return r.Take(ctx)
}

// Take puts the complete new folder in the place of the old one, which it removes. On this machine that is one step where the system
// has it. Elsewhere files are copied, the manifest last; a run that is killed meanwhile leaves
// the new one, and Interrupted reports it.
func (r *Replacement) Take(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // what is complete is not interrupted
	defer r.release()
	guarded := r.Old.lock.Guard(ctx)
	exchanged, err := storage.Exchange(guarded, r.Old.url(), r.New.url())
	if err == nil && !exchanged {
		err = r.copy(guarded)
	}
	if err != nil {
		return fmt.Errorf("putting %s in the place of %s: %w; the same command finishes it", r.New.url(), r.Old.url(), err)
	}
	if err := storage.Clear(ctx, r.New.url(), r.New.index()); err != nil {
		return err
	}
	if err := storage.Remove(ctx, r.New.index()); err != nil { // last, so that what is left of it belongs to a pipeline
		return err
	}
	storage.RemoveEmpty(ctx, r.New.url())
	return nil
}

// copy copies the files of the new folder over those of the old one, and removes what the new one lacks. The manifest of the old one is
// removed first, so that nobody takes the files of both for one folder.
func (r *Replacement) copy(ctx context.Context) error {
	m, err := manifest.Read(ctx, r.New.url())
	if err != nil {
		return err
	}
	if err := storage.Remove(ctx, r.Old.index()); err != nil {
		return err
	}
	keep := []string{r.Old.lockFile()}
	for _, f := range append(m.Files, manifest.File{Name: manifest.FileName}) {
		to := storage.Join(r.Old.url(), f.Name)
		if err := copyFile(ctx, storage.Join(r.New.url(), f.Name), to); err != nil {
			return err
		}
		keep = append(keep, to)
	}
	urls, err := storage.List(ctx, r.Old.url())
	if err != nil {
		return err
	}
	for _, url := range urls {
		if !slices.Contains(keep, url) {
			if err := storage.Remove(ctx, url); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyFile(ctx context.Context, from, to string) error {
	file, err := storage.Open(ctx, from)
	if err != nil {
		return err
	}
	defer file.Close()
	w, err := storage.Create(ctx, to)
	if err != nil {
		return err
	}
	defer w.Abort()
	if _, err := io.Copy(w, file); err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	return w.Commit()
}

// Interrupted reports whether a run was killed while it put the complete replacement of a folder, which has no manifest, in its place.
func (w Workspace) Interrupted(ctx context.Context, folder string) bool {
	url := w.Path(ReplacementFolder(folder))
	if _, err := manifest.Read(ctx, w.Path(folder)); !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	m, err := manifest.Read(ctx, url)
	return err == nil && len(m.Earlier) > 0 && manifest.Verify(ctx, url, m) == nil
}
