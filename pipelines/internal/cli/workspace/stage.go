package workspace

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"tagnet/formats/storage"
	"tagnet/formats/storage/lock"
	"tagnet/formats/workspace/manifest"
)

// Stage is one folder that a pipeline is about to make, and all that decides its content.
type Stage struct {
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
	// Inputs are the checksums of the manifests of the folders that the content is made from, as
	// Workspace.Inputs returns them.
	Inputs map[string]string
	// Lasting says that the content stays valid if an input is replaced while it is made, as that of a training, which reads the graph once: what it makes
	// afterwards looks at the graph itself.
	Lasting bool
	// Exchanged says that a folder with a manifest stays as it is while it is overwritten, and that the new one takes its place in one step, where the
	// system has it.
	Exchanged bool
	// Command makes the folder. Errors quote it.
	Command Command
	// Outputs are the paths below the folder of the files that make it complete: Publish returns an
	// error if one does not exist. A path that ends in a slash is a folder with files.
	Outputs []string
	// Beside are the URLs of the files and folders that the pipeline writes outside Folder.
	Beside []string
	// Ready, unless it is nil, is called when the folder has to be made, before it is locked and
	// anything in it is removed. Its error ends Begin, Replace or Resume.
	Ready func(ctx context.Context) error

	lock   lock.Lock // between Begin or Resume and Publish, Abandon or Pause
	beside bool      // the files are written into NewFolder
}

// NewFolder returns the folder in which the one is made that takes the place of another by an exchange.
func NewFolder(folder string) string { return folder + ".new" }

// url returns the folder's URL.
func (s *Stage) url() string { return s.Workspace.Path(s.Folder) }

// URL returns the folder into which the files are written, after Begin.
func (s *Stage) URL() string {
	if s.beside {
		return s.Workspace.Path(NewFolder(s.Folder))
	}
	return s.url()
}

// index and lockFile return the URLs of a folder's manifest and of its lock file.
func index(url string) string    { return storage.Join(url, manifest.FileName) }
func lockFile(url string) string { return storage.Join(url, lock.FileName) }

// Begin decides what to do before anything is built. It returns true if the folder is complete
// with exactly this configuration and from these inputs: nothing is left to do. Unless force is
// true, it returns an *Unusable error if another configuration or other inputs made the folder or
// a file is damaged, a *lock.Held error if another run is writing it, and the error of storage.CheckRegular about what it
// is going to write. Otherwise it takes the folder's lock and removes what an interrupted run left.
//
// A folder without lock file and manifest belongs to somebody else if it has files: an error.
func (s *Stage) Begin(ctx context.Context, force bool) (done bool, err error) {
	return s.begin(ctx, func() (bool, error) {
		if force {
			return false, nil
		}
		return s.complete(ctx)
	}, force)
}

// Replace is Begin for a folder that takes little to make: where it was made with another
// configuration, from other inputs, or is damaged, it is overwritten without force.
func (s *Stage) Replace(ctx context.Context, force bool) (done bool, err error) {
	return s.begin(ctx, func() (bool, error) {
		if force {
			return false, nil
		}
		return s.Complete(ctx)
	}, force)
}

// begin returns true if complete does. Otherwise it takes the lock and clears the folder.
func (s *Stage) begin(ctx context.Context, complete func() (bool, error), force bool) (done bool, err error) {
	if done, err := complete(); done || err != nil {
		return done, err
	}
	if err := ours(ctx, s.url()); err != nil {
		return false, err
	}
	if err := s.ready(ctx, force); err != nil {
		return false, err
	}
	if err := s.acquire(ctx, force); err != nil {
		return false, err
	}
	// Another run may have completed the folder before this one got the lock.
	done, err = complete()
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

// clear removes the files of the folder, or those of the one beside it. Which of them is written is decided here, when no other run changes it.
func (s *Stage) clear(ctx context.Context) error {
	complete, err := storage.Exists(ctx, index(s.url()))
	if err != nil {
		return err
	}
	if s.beside = false; s.Exchanged && complete {
		if s.beside, err = storage.CanExchange(ctx, s.url()); err != nil {
			return err
		}
	}
	url := s.URL()
	if s.beside {
		if err := cmp.Or(storage.CheckRegular(ctx, s.Workspace.root, url), ours(ctx, url)); err != nil {
			return err
		}
	}
	// Without its manifest the folder counts as leftovers, wherever this is interrupted.
	if err := storage.Remove(ctx, index(url)); err != nil {
		return err
	}
	if s.beside { // its lock file becomes that of the folder by the exchange
		if err := storage.WriteFile(ctx, lockFile(url), []byte(s.lock.Content)); err != nil {
			return err
		}
	}
	return storage.Clear(ctx, url, lockFile(url))
}

// Complete returns true if the folder is complete with this stage's configuration and inputs, and not
// damaged.
func (s *Stage) Complete(ctx context.Context) (bool, error) {
	done, err := s.complete(ctx)
	if unusable := new(Unusable); errors.As(err, &unusable) {
		err = nil
	}
	return done, err
}

// complete returns true if the folder is complete with this stage's configuration and inputs, and
// false if it has no manifest.
func (s *Stage) complete(ctx context.Context) (bool, error) {
	m, err := manifest.Read(ctx, s.url())
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, remedied(err, s.Command)
	}
	if err := s.compare(m); err != nil {
		return false, err
	}
	if err := manifest.Verify(ctx, s.url(), m); err != nil {
		return false, remedied(err, s.Command)
	}
	return true, nil
}

// ready calls Ready for a folder that no other run is writing and that leads nowhere else.
func (s *Stage) ready(ctx context.Context, force bool) error {
	for _, url := range append([]string{s.url()}, s.Beside...) {
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
func (s *Stage) acquire(ctx context.Context, force bool) error {
	if err := storage.CheckWritable(ctx, s.url()); err != nil {
		return err
	}
	var err error
	s.lock, err = lock.Acquire(ctx, s.url(), s.Command.String(), force)
	return err
}

// Resume takes the folder's lock and keeps its files, for a run that continues an interrupted one.
// It returns a *lock.Held if another run is writing the folder, unless force takes its lock over.
func (s *Stage) Resume(ctx context.Context, force bool) error {
	if err := s.ready(ctx, force); err != nil {
		return err
	}
	if err := s.acquire(ctx, force); err != nil {
		return err
	}
	if err := storage.RemoveTemporary(s.lock.Guard(ctx), s.url()); err != nil {
		s.Pause()
		return fmt.Errorf("clearing %s: %w", s.url(), err)
	}
	return nil
}

// CheckFree returns a *lock.Held if another run is writing the folder.
func (s *Stage) CheckFree(ctx context.Context) error { return lock.CheckFree(ctx, s.url()) }

// Lock returns the folder's lock after Begin or Resume. All that writes into the folder does so in
// the context of its Guard.
func (s *Stage) Lock() lock.Lock { return s.lock }

// Pause ends a run that leaves its files for the next one to resume or to remove.
func (s *Stage) Pause() {
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
// writing, as those of a cluster whose job was interrupted here, the lock file stays, so that what
// they write counts as leftovers too.
func (s *Stage) Abandon(workers bool) {
	ctx, cancel := context.WithTimeout(context.Background(), parting) // the run's own may be canceled
	defer cancel()
	guarded, url := s.lock.Guard(ctx), s.URL()
	if storage.Clear(guarded, url, lockFile(url)) != nil || workers {
		s.Pause()
		return
	}
	if s.beside && storage.Remove(guarded, lockFile(url)) != nil {
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

// Mismatch is the reason why a complete folder cannot be used: it was made with another configuration
// than this run's, or from other inputs than there are now.
type Mismatch struct {
	Folder string
	// Differences lists the fields of the configuration that differ; it is empty if Input, the
	// folder of an input that has changed, is the reason.
	Differences []string
	Input       string
}

// Error says what differs.
func (m *Mismatch) Error() string {
	if m.Input != "" {
		return fmt.Sprintf("%s was made from another version of %s", m.Folder, m.Input)
	}
	return fmt.Sprintf("%s was written with another configuration (%s)", m.Folder, strings.Join(m.Differences, "; "))
}

// Unusable is the error of a folder that has a manifest but cannot be used: it is damaged, or a
// *Mismatch.
type Unusable struct {
	Reason error
	// Command with --force overwrites the folder.
	Command Command
}

// Error says why the folder cannot be used and which command overwrites it.
func (u *Unusable) Error() string {
	mismatch := new(Mismatch)
	switch {
	case errors.As(u.Reason, &mismatch) && len(mismatch.Differences) > 0:
		if another := u.Command.another(); another != "" {
			return fmt.Sprintf("%v: choose another --%s, or %s to overwrite it", u.Reason, another, u.Command.With("--force"))
		}
	case u.Command.Pipeline == "preprocess" && !slices.Contains(u.Command.Flags, "--dataset"): // it would take the sample
		return fmt.Sprintf("%v: %s with the same --dataset and --force overwrites it", u.Reason, u.Command)
	}
	return fmt.Sprintf("%v: %s overwrites it", u.Reason, u.Command.With("--force"))
}

// Unwrap returns the reason.
func (u *Unusable) Unwrap() error { return u.Reason }

// remedied adds the command that overwrites a damaged folder. One that cannot be read, for lack of
// permission or credentials, is not damaged.
func remedied(err error, command Command) error {
	if !errors.Is(err, manifest.ErrDamaged) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return &Unusable{err, command}
}

// compare returns nil if the manifest is that of a run like this one, or an *Unusable error.
func (s *Stage) compare(m manifest.Manifest) error {
	wanted, err := json.Marshal(s.Configuration)
	if err != nil {
		return fmt.Errorf("encoding the configuration of %s: %w", s.Name, err)
	}
	different, err := Differences(m.Configuration, wanted)
	if err != nil {
		return fmt.Errorf("reading the configuration in %s: %w", index(s.url()), err)
	}
	if m.Seed != s.Seed {
		different = append(different, fmt.Sprintf("seed is %d there, %d here", m.Seed, s.Seed))
	}
	if len(different) > 0 {
		return &Unusable{&Mismatch{Folder: s.url(), Differences: different}, s.Command}
	}
	if stale := changed(m.Inputs, s.Inputs); stale != "" {
		return &Unusable{&Mismatch{Folder: s.url(), Input: s.Workspace.Path(stale)}, s.Command}
	}
	return nil
}

// Publish hashes every file below the folder, writes the manifest, which makes the folder complete,
// and releases the lock. The rows are counts that a reader may want to check: rows["edges"] and the
// like. It publishes nothing and returns a *lock.Lost error if another run has taken over the lock,
// a *Missing error if one of Outputs, or a shard of any file, does not exist, and an error if an input was replaced.
func (s *Stage) Publish(ctx context.Context, rows map[string]int64) error {
	if err := s.publish(ctx, rows); err != nil {
		s.Pause()
		return err
	}
	// The folder is complete: an interrupt from here on leaves no lock file.
	ctx = context.WithoutCancel(ctx)
	err := s.lock.Release(ctx)
	if lost := new(lock.Lost); errors.As(err, &lost) && !s.beside {
		// A run that took the lock over before the manifest was written did not remove it.
		return errors.Join(err, storage.Remove(ctx, index(s.url())))
	}
	return err
}

func (s *Stage) publish(ctx context.Context, rows map[string]int64) error {
	if err := s.lock.Check(ctx); err != nil {
		return err
	}
	if err := s.checkInputs(ctx); err != nil {
		return err
	}
	configuration, err := json.Marshal(s.Configuration)
	if err != nil {
		return fmt.Errorf("encoding the configuration of %s: %w", s.Name, err)
	}
	files, err := manifest.HashFolder(ctx, s.URL())
	if err != nil {
		return fmt.Errorf("hashing the files of %s: %w", s.URL(), err)
	}
	if err := s.missing(files); err != nil {
		return err
	}
	// Another run may have completed the folder meanwhile.
	err = manifest.Write(s.lock.Guard(ctx), s.URL(), manifest.Manifest{
		Stage: s.Name, Configuration: configuration, Seed: s.Seed, Rows: rows, Vocabulary: s.Vocabulary, Inputs: s.Inputs,
		Files: slices.DeleteFunc(files, func(f manifest.File) bool { return f.Name == lock.FileName }),
	})
	if err != nil || !s.beside {
		return err
	}
	return s.exchange(context.WithoutCancel(ctx)) // what is complete is not interrupted
}

// exchange puts the new folder in the place of the one that is there, and removes that.
func (s *Stage) exchange(ctx context.Context) error {
	url := s.URL()
	exchanged, err := storage.Exchange(ctx, s.url(), url)
	if err == nil && !exchanged {
		err = errors.New("the file system cannot; remove the latter, and run again")
	}
	if err != nil {
		return fmt.Errorf("putting %s in the place of %s: %w", url, s.url(), err)
	}
	if err := s.lock.Check(ctx); err != nil { // another run took the lock over just before, and begins to write the new folder itself
		_, undone := storage.Exchange(ctx, s.url(), url)
		return errors.Join(err, undone)
	}
	guarded := s.lock.Guard(ctx)
	if err := storage.Clear(guarded, url, lockFile(url)); err != nil {
		return err
	}
	if err := storage.Remove(guarded, lockFile(url)); err != nil { // last, so that what is left of it belongs to a pipeline
		return err
	}
	storage.RemoveEmpty(ctx, url)
	return nil
}

// checkInputs returns an error if an input was replaced since Begin: some steps may have read the one, and others the other.
func (s *Stage) checkInputs(ctx context.Context) error {
	if s.Lasting {
		return nil
	}
	for _, input := range slices.Sorted(maps.Keys(s.Inputs)) {
		now, err := s.Workspace.hash(ctx, input)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if now != s.Inputs[input] {
			return fmt.Errorf("%s was replaced while %s was made from it: run again", s.Workspace.Path(input), s.url())
		}
	}
	return nil
}

// Require reads and verifies the manifest of a folder that a pipeline needs: all files exist with
// the recorded SHA-256, and the folder's inputs have not changed since. The error names the command
// that makes or overwrites the folder.
func (w Workspace) Require(ctx context.Context, folder string, command Command) (manifest.Manifest, error) {
	url := w.Path(folder)
	m, err := manifest.Read(ctx, url)
	if errors.Is(err, fs.ErrNotExist) {
		files, err := storage.List(ctx, url)
		state := "is not complete"
		switch {
		case errors.Is(err, storage.ErrUnavailable):
			return m, err // such as a bucket that does not exist, which a missing object does not tell
		case err == nil && len(files) == 0:
			state = "does not exist"
		}
		return m, manifest.Confirm(ctx, url, "", fmt.Errorf("%s %s: run %s first", url, state, command))
	}
	if err != nil {
		return m, remedied(err, command)
	}
	if err := manifest.Verify(ctx, url, m); err != nil {
		return m, remedied(err, command)
	}
	for _, input := range slices.Sorted(maps.Keys(m.Inputs)) {
		now, err := w.hash(ctx, input)
		if errors.Is(err, storage.ErrUnavailable) {
			return m, err
		}
		if err != nil || now != m.Inputs[input] {
			return m, &Unusable{&Mismatch{Folder: url, Input: w.Path(input)}, command}
		}
	}
	return m, nil
}

// Inputs returns the checksums of folders' manifests, for Stage.Inputs. Require verifies them before.
func (w Workspace) Inputs(ctx context.Context, folders ...string) (map[string]string, error) {
	inputs := map[string]string{}
	for _, folder := range folders {
		hash, err := w.hash(ctx, folder)
		if err != nil {
			return nil, err
		}
		inputs[folder] = hash
	}
	return inputs, nil
}

func (w Workspace) hash(ctx context.Context, folder string) (string, error) {
	m, err := manifest.Read(ctx, w.Path(folder))
	if err != nil {
		return "", err
	}
	return m.Checksum, nil
}

// changed names an input whose hash differs, or "".
func changed(then, now map[string]string) string {
	for _, folder := range slices.Concat(slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(then))) {
		if then[folder] != now[folder] {
			return folder
		}
	}
	return ""
}

// Differences lists the fields in which two JSON objects differ, nested ones by their path:
// "layers is 6 there, 3 here".
func Differences(there, here []byte) ([]string, error) {
	var a, b any
	if err := decode(there, &a); err != nil {
		return nil, err
	}
	if err := decode(here, &b); err != nil {
		return nil, err
	}
	var out []string
	differ("", a, b, &out)
	return out, nil
}

func decode(text []byte, into *any) error {
	if len(text) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(into)
}

// longest is the length of the longest value that is shown, so that hashes are not.
const longest = 40

func differ(path string, a, b any, out *[]string) {
	x, ok1 := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if ok1 && ok2 {
		both := maps.Clone(x)
		maps.Copy(both, y)
		for _, k := range slices.Sorted(maps.Keys(both)) {
			inner := k
			if path != "" {
				inner = path + "." + k
			}
			differ(inner, x[k], y[k], out)
		}
		return
	}
	if p, q := namesOf(a), namesOf(b); len(p)+len(q) > 0 {
		if !slices.Equal(p, q) {
			*out = append(*out, fmt.Sprintf("%s is %s there, %s here", path, cmp.Or(strings.Join(p, ", "), "empty"), cmp.Or(strings.Join(q, ", "), "empty")))
			return
		}
		for i, name := range p {
			differ(path+"."+name, a.([]any)[i], b.([]any)[i], out)
		}
		return
	}
	if s, t := text(a), text(b); s != t {
		if path == "" {
			path = "configuration"
		}
		if len(s) > longest || len(t) > longest {
			*out = append(*out, path+" differs")
			return
		}
		*out = append(*out, fmt.Sprintf("%s is %s there, %s here", path, s, t))
	}
}

// namesOf returns the names of a list of objects that have names, such as graphs, or nil for any other value.
func namesOf(v any) (names []string) {
	list, _ := v.([]any)
	for _, element := range list {
		object, _ := element.(map[string]any)
		name, ok := object["name"].(string)
		if !ok {
			return nil
		}
		names = append(names, name)
	}
	return names
}

// text returns a value as JSON.
func text(v any) string {
	if v == nil {
		return "absent"
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}
