package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"

	"tagnet/formats/manifest"
	"tagnet/formats/storage"
)

// unfinished is the file that marks a folder as one that a pipeline is making, or was making
// when it was killed. Without it and without a manifest nothing in a folder is ours to remove.
const unfinished = ".unfinished"

// process tells this process from all others.
var process = fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())

// mark is what the mark of a run of this process says: last who makes the folder, and of what.
func (s Stage) mark() (text, work string, err error) {
	decided, err := json.Marshal([]any{s.Name, s.Configuration, s.Seed, s.Inputs})
	if err != nil {
		return "", "", fmt.Errorf("encoding the configuration of %s: %w", s.Name, err)
	}
	work = fmt.Sprintf("work %x\n", sha256.Sum256(decided))
	return fmt.Sprintf("made by %s; complete when %s is there\nrun %s\n%s", s.Name, manifest.FileName, process, work), work, nil
}

// setMark marks the folder as one that this process makes.
func (s Stage) setMark(ctx context.Context) error {
	text, _, err := s.mark()
	if err != nil {
		return err
	}
	if err := storage.WriteFile(ctx, s.marker(), []byte(text)); err != nil {
		return fmt.Errorf("marking %s: %w", s.url(), err)
	}
	return nil
}

// Mark returns the file that says whose the folder is, and what it says while it is this process's.
// Those who write for longer look there before each file.
func (s Stage) Mark() (url, text string, err error) {
	text, _, err = s.mark()
	return s.marker(), text, err
}

// Resume makes the folder, as it is, one that this process goes on with.
func (s Stage) Resume(ctx context.Context) error {
	if err := storage.CheckWritable(ctx, s.url()); err != nil {
		return err
	}
	return s.setMark(ctx)
}

// alone returns an error if the mark is not that of this process any more: another run has begun
// the folder anew. What this process has written since then is the same, if that run does the same
// work. If not, and the folder is not guarded, the mark is replaced, so that the other run does not
// complete a mixture either. It is set again where it is gone and files are left, which would count
// as somebody else's.
func (s Stage) alone(ctx context.Context) error {
	mine, work, err := s.mark()
	if err != nil {
		return err
	}
	there, err := storage.ReadFile(ctx, s.marker())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the mark of %s: %w", s.url(), err)
	}
	if err == nil && string(there) == mine {
		return nil
	}
	lost := err != nil && s.ours(ctx) != nil
	if lost || err == nil && !s.Guarded && !strings.HasSuffix(string(there), work) {
		if err := storage.WriteFile(ctx, s.marker(), []byte("written by two runs at once\n")); err != nil {
			return fmt.Errorf("marking %s: %w", s.url(), err)
		}
	}
	return fmt.Errorf("%s was begun by another run while this one made it: run %s when the other has ended", s.url(), s.command())
}

// clear empties the folder and marks it as unfinished.
func (s Stage) clear(ctx context.Context) error {
	if err := storage.CheckWritable(ctx, s.url()); err != nil {
		return err
	}
	if err := s.ours(ctx); err != nil {
		return err
	}
	// The mark comes first, the manifest goes next: what remains then counts as leftovers,
	// wherever this is interrupted.
	if err := s.setMark(ctx); err != nil {
		return err
	}
	if err := storage.Remove(ctx, s.index()); err != nil {
		return fmt.Errorf("clearing %s: %w", s.url(), err)
	}
	if err := s.empty(ctx); err != nil {
		return err
	}
	// Only unfinished temporary files are left beside the mark. Where another run writes meanwhile
	// not all can be removed, but the mark is gone.
	err := storage.RemoveAll(ctx, s.url())
	if err != nil {
		err = fmt.Errorf("clearing %s: %w", s.url(), err)
	}
	return errors.Join(err, s.setMark(context.WithoutCancel(ctx)))
}

// empty removes all files of the folder but the mark.
func (s Stage) empty(ctx context.Context) error {
	urls, err := storage.List(ctx, s.url())
	if err != nil {
		return fmt.Errorf("listing %s: %w", s.url(), err)
	}
	for _, url := range urls {
		if url == s.marker() {
			continue
		}
		if err := storage.Remove(ctx, url); err != nil {
			return fmt.Errorf("clearing %s: %w", s.url(), err)
		}
	}
	return nil
}

// Abandon removes what was written of a folder that cannot be completed. It does its best: the
// next Begin removes what is left, and what another run has begun anew stays. Where others may
// still write, as the workers of a cluster whose job was interrupted here, the mark stays, so that
// what comes late counts as leftovers too.
func (s Stage) Abandon(others bool) {
	ctx := context.Background() // the run's own may be cancelled
	if there, err := storage.Exists(ctx, s.index()); there || err != nil {
		return
	}
	if s.alone(ctx) != nil {
		return
	}
	// The mark goes last: this may be killed, too.
	if s.empty(ctx) == nil && !others && storage.RemoveAll(ctx, s.url()) != nil {
		_ = s.setMark(ctx) // something was written meanwhile
	}
}

// ours returns an error if the folder holds files that no pipeline wrote.
func (s Stage) ours(ctx context.Context) error {
	for _, url := range []string{s.marker(), s.index()} {
		there, err := storage.Exists(ctx, url)
		if err != nil {
			return fmt.Errorf("looking for %s: %w", url, err)
		}
		if there {
			return nil
		}
	}
	urls, err := storage.List(ctx, s.url())
	if err != nil {
		return fmt.Errorf("listing %s: %w", s.url(), err)
	}
	if len(urls) > 0 {
		return fmt.Errorf("%s holds files that are not from here, such as %s: choose another --workspace, or move them", s.url(), urls[0])
	}
	return nil
}
