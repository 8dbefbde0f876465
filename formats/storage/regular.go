package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// special names the kind of a file that is neither regular nor a folder; "" if it is.
func special(mode fs.FileMode) string {
	switch {
	case mode.IsRegular(), mode.IsDir():
		return ""
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// readable returns an error for what is no regular file, once symbolic links are followed.
func readable(info fs.FileInfo) error {
	if info.IsDir() {
		return &Unreadable{syscall.EISDIR}
	}
	if kind := special(info.Mode()); kind != "" {
		return &Unreadable{fmt.Errorf("it is %s, not a regular file: remove it, or put a file in its place", kind)}
	}
	return nil
}

// Unreadable is the error of reading what no program wrote as such a file: a folder, a pipe or a device, or what is
// larger than any text.
type Unreadable struct{ Reason error }

// Error returns the text of the reason.
func (u *Unreadable) Error() string { return u.Reason.Error() }

// Unwrap returns the reason.
func (u *Unreadable) Unwrap() error { return u.Reason }

// writable returns an error for what is neither a regular file nor a folder itself. Writing to it could
// change files elsewhere, or never end.
func (f files) writable(path string, mode fs.FileMode) error {
	switch kind := special(mode); {
	case kind == "":
		return nil
	case mode&fs.ModeSymlink != 0:
		return fmt.Errorf("writing %s: it is %s, and nothing is written through one: remove it, or put a copy of its target in its place; only a workspace "+
			"as a whole may be a link", f.url(path), kind)
	default:
		return fmt.Errorf("writing %s: it is %s, not a regular file: remove it", f.url(path), kind)
	}
}

// checkReplaceable returns an error if a path is something that no file of this package replaces.
func (f files) checkReplaceable(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // absent, or the caller's next step fails with a better error
	}
	return f.writable(path, info.Mode())
}

// CheckRegular follows symbolic links in root, but in no name below it.
func (f files) CheckRegular(ctx context.Context, root, path string) error {
	below, err := filepath.Rel(root, path)
	if err != nil {
		return f.readError(path, err)
	}
	on := root
	for name := range strings.SplitSeq(below, string(filepath.Separator)) {
		on = filepath.Join(on, name)
		if err := f.checkReplaceable(on); err != nil {
			return err
		}
	}
	return filepath.WalkDir(on, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR): // or removed meanwhile
			return nil
		case err != nil:
			return f.readError(name, err)
		}
		if err := f.writable(name, entry.Type()); err != nil {
			return err
		}
		return ctx.Err()
	})
}
