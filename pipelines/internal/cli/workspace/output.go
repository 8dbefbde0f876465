package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
)

// Output is one folder that a pipeline is about to make, and all that decides its content.
type Output struct {
	// Workspace is the workspace of the folder.
	Workspace Workspace
	// Name is the pipeline's.
	Name string
	// Folder is the path below the workspace, for example distances/test.
	Folder string
	// Configuration is marshalled to JSON; two runs with equal JSON make equal content.
	Configuration any
	// Seed is recorded and compared; leave it 0 where nothing is drawn.
	Seed int64
	// Vocabulary is the hash of the entity and relation names that ids in the folder refer to.
	Vocabulary string
	// Inputs are the checksums of the manifests of the folders that the content is made from.
	Inputs map[string]string
	// OutlivesInputs says that the content stays valid if an input is replaced while it is made. A checkpoint does:
	// training reads the graph once, and whoever opens the checkpoint compares it with the graph.
	OutlivesInputs bool
	// Exchanged says that a folder with a manifest stays as it is while it is overwritten, and that the new one takes
	// its place in one step, where the system has it.
	Exchanged bool
	// Cheap says that the content takes little to make: Begin overwrites without force what another configuration or
	// other inputs made, or what is damaged.
	Cheap bool
	// Resumed says that the next run continues from the files of one that failed, which stay.
	Resumed bool
	// Command makes the folder. Errors quote it.
	Command Command
	// Outputs are the paths below the folder of the files that make it complete: Publish returns an
	// error if one does not exist. A path that ends in a slash is a folder with files.
	Outputs []string
	// WrittenOutside are the URLs of the files and folders that the pipeline writes outside Folder.
	WrittenOutside []string
	// Ready, unless it is nil, is called when the folder has to be made, before it is locked and
	// anything in it is removed. Its error ends Begin or Resume.
	Ready func(ctx context.Context) error

	lock lock.Lock // between Begin or Resume and Publish, Abandon or Pause
	// inNewFolder is set by clear and never changes afterwards. If it is false, files go into Folder, which has no
	// manifest until Publish writes it. If it is true, a complete Folder stays readable, files go into NewFolder, and
	// Publish exchanges the two; the lock is in Folder before and after.
	inNewFolder bool
}

// NewFolder returns where the replacement of a complete folder is written, until an exchange puts it in
// the folder's place.
func NewFolder(folder string) string { return folder + ".new" }

// folderURL returns the folder's URL, wherever files are written.
func (s *Output) folderURL() string { return s.Workspace.Path(s.Folder) }

// URL returns the folder into which the files are written, after Begin: the output's folder or NewFolder.
func (s *Output) URL() string {
	if s.inNewFolder {
		return s.Workspace.Path(NewFolder(s.Folder))
	}
	return s.folderURL()
}

// index and lockFile return the URLs of a folder's manifest and of its lock file.
func index(url string) string    { return storage.Join(url, manifest.FileName) }
func lockFile(url string) string { return storage.Join(url, lock.FileName) }

// Begin decides what to do before anything is built. It returns true if the folder is complete with exactly this
// configuration and from these inputs: nothing is left to do. Unless force or Cheap is true, it returns an *Unusable
// error if another configuration or other inputs made the folder or a file is damaged, a *lock.Held error if another
// run is writing it, and the error of storage.CheckRegular about what it is going to write. Otherwise it takes the
// folder's lock and removes what an interrupted run left.
//
// A folder without lock file and manifest belongs to somebody else if it has files: an error.
func (s *Output) Begin(ctx context.Context, force bool) (done bool, err error) {
	complete := s.checkComplete
	switch {
	case force:
		complete = func(context.Context) (bool, error) { return false, nil }
	case s.Cheap:
		complete = s.Complete
	}
	if done, err := complete(ctx); done || err != nil {
		return done, err
	}
	if err := ours(ctx, s.folderURL()); err != nil {
		return false, err
	}
	if err := s.prepare(ctx, force); err != nil {
		return false, err
	}
	if err := s.acquire(ctx, force); err != nil {
		return false, err
	}
	// Another run may have completed the folder before this one got the lock.
	done, err = complete(ctx)
	switch {
	case err != nil: // also where ctx was canceled since: the next run takes the ended lock over
		s.Pause()
		return false, err
	case done:
		return true, s.lock.Release(context.WithoutCancel(ctx))
	}
	if err := s.clear(s.lock.Guard(ctx)); err != nil {
		s.Pause()
		return false, fmt.Errorf("clearing %s: %w", s.URL(), err)
	}
	return false, nil
}

// clear decides where files are written, as nobody but the owner of the lock may complete the folder, and removes the
// files that are there.
func (s *Output) clear(ctx context.Context) error {
	complete, err := storage.Exists(ctx, index(s.folderURL()))
	if err != nil {
		return err
	}
	if s.inNewFolder = false; s.Exchanged && complete {
		if s.inNewFolder, err = storage.CanExchange(ctx, s.folderURL()); err != nil {
			return err
		}
	}
	url := s.URL()
	if s.inNewFolder {
		if err := cmp.Or(storage.CheckRegular(ctx, s.Workspace.root, url), ours(ctx, url)); err != nil {
			return err
		}
	}
	// Without its manifest the folder counts as leftovers, wherever this is interrupted.
	if err := storage.Remove(ctx, index(url)); err != nil {
		return err
	}
	if s.inNewFolder { // the exchange moves this lock file into the folder
		if err := storage.WriteFile(ctx, lockFile(url), []byte(s.lock.Content)); err != nil {
			return err
		}
	}
	return storage.Clear(ctx, url, lockFile(url))
}

// Complete returns true if the folder is complete with this output's configuration and inputs. A damaged
// folder and one of another configuration are false, not errors.
func (s *Output) Complete(ctx context.Context) (bool, error) {
	done, err := s.checkComplete(ctx)
	if unusable := new(Unusable); errors.As(err, &unusable) {
		err = nil
	}
	return done, err
}

// checkComplete returns true if the folder is complete with this output's configuration and inputs, false
// if it has no manifest, and an *Unusable error if it is damaged or another run's.
func (s *Output) checkComplete(ctx context.Context) (bool, error) {
	m, err := manifest.Read(ctx, s.folderURL())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, remedied(err, s.Command)
	}
	if err := s.compare(m); err != nil {
		return false, err
	}
	if err := manifest.Verify(ctx, s.folderURL(), m); err != nil {
		return false, remedied(err, s.Command)
	}
	return true, nil
}

// prepare checks that no symbolic link and, without force, no other run is in the way, and calls Ready.
func (s *Output) prepare(ctx context.Context, force bool) error {
	for _, url := range append([]string{s.folderURL()}, s.WrittenOutside...) {
		if err := storage.CheckRegular(ctx, s.Workspace.root, url); err != nil {
			return err
		}
	}
	if s.Ready == nil {
		return nil
	}
	if !force {
		if err := s.CheckFree(ctx); err != nil {
			return err
		}
	}
	return s.Ready(ctx)
}

// acquire takes the folder's lock, once the folder is known to be writable.
func (s *Output) acquire(ctx context.Context, force bool) error {
	if err := storage.CheckWritable(ctx, s.folderURL()); err != nil {
		return err
	}
	var err error
	s.lock, err = lock.Acquire(ctx, s.folderURL(), s.Command.String(), force)
	return err
}

// Resume takes the folder's lock and keeps its files, for a run that continues an interrupted one.
// It returns a *lock.Held if another run is writing the folder, unless force takes its lock over.
func (s *Output) Resume(ctx context.Context, force bool) error {
	if err := s.prepare(ctx, force); err != nil {
		return err
	}
	if err := s.acquire(ctx, force); err != nil {
		return err
	}
	if err := storage.RemoveTemporary(s.lock.Guard(ctx), s.folderURL()); err != nil {
		s.Pause()
		return fmt.Errorf("clearing %s: %w", s.folderURL(), err)
	}
	return nil
}

// CheckFree returns a *lock.Held if another run is writing the folder.
func (s *Output) CheckFree(ctx context.Context) error { return lock.CheckFree(ctx, s.folderURL()) }

// Lock returns the folder's lock after Begin or Resume. All that writes into the folder does so in
// the context of its Guard.
func (s *Output) Lock() lock.Lock { return s.lock }

// Pause ends a run that leaves its files for the next one to resume or to remove.
func (s *Output) Pause() {
	// The context of an interrupted run is canceled. An error leaves the lock of a process that is
	// about to end, which is as good.
	ctx, cancel := context.WithTimeout(context.Background(), parting)
	defer cancel()
	_ = s.lock.End(ctx)
}

// parting is how long a run that fails or is interrupted tries to leave its folder in order. A remote
// storage that failed may still not answer. A test shortens it.
var parting = 30 * time.Second

// Abandon removes what was written of a folder that cannot be completed, unless another run has
// taken it over. It does its best: the next Begin removes what is left. If workers may still be
// writing, such as a cluster's whose job was interrupted here, the lock file stays, so that what
// they write counts as leftovers too.
func (s *Output) Abandon(workers bool) {
	ctx, cancel := context.WithTimeout(context.Background(), parting) // the run's own may be canceled
	defer cancel()
	guarded, url := s.lock.Guard(ctx), s.URL()
	if storage.Clear(guarded, url, lockFile(url)) != nil || workers {
		s.Pause()
		return
	}
	if s.inNewFolder && storage.Remove(guarded, lockFile(url)) != nil {
		s.Pause()
		return
	}
	if s.lock.Release(ctx) == nil {
		storage.RemoveEmpty(ctx, url) // not what another run may be writing there by now
	}
}

// ours returns an error if a folder holds files that no pipeline wrote: it has files, but neither
// a lock file nor a manifest.
func ours(ctx context.Context, url string) error {
	urls, err := storage.List(ctx, url)
	if err != nil {
		return fmt.Errorf("listing %s: %w", url, err)
	}
	if len(urls) > 0 && !slices.Contains(urls, lockFile(url)) && !slices.Contains(urls, index(url)) {
		return fmt.Errorf("%s holds files that no pipeline wrote, such as %s: choose another --workspace, or move them", url, urls[0])
	}
	return nil
}
