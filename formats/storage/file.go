package storage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// files is this machine's file system, for plain paths and file://.
type files struct{ scheme string }

// url returns a path in the form, plain or file://, in which the caller wrote it.
func (f files) url(path string) string {
	if f.scheme == "" {
		return path
	}
	return f.scheme + "://" + filepath.ToSlash(path)
}

func (f files) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	return f.OpenRandom(ctx, path)
}

// OpenRandom opens a regular file for reading at any offset.
func (f files) OpenRandom(_ context.Context, path string) (RandomReader, error) {
	// Opening a named pipe waits for its other end, and opening a device may have effects.
	info, err := os.Stat(path)
	if err == nil {
		err = readable(info)
	}
	if err != nil {
		return nil, f.readError(path, err)
	}
	return f.openChecked(path, readable)
}

// OpenStream opens a file, a named pipe or a device.
func (f files) OpenStream(path string) (io.ReadCloser, error) {
	return f.openChecked(path, func(info fs.FileInfo) error {
		if info.IsDir() {
			return syscall.EISDIR
		}
		return nil
	})
}

func (f files) openChecked(path string, check func(fs.FileInfo) error) (RandomReader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, f.readError(path, err)
	}
	info, err := file.Stat()
	if err == nil {
		err = check(info)
	}
	if err != nil {
		file.Close()
		return nil, f.readError(path, err)
	}
	return openFile{file, info.Size()}, nil
}

// readError names the file as the caller wrote it. A path that leads through a file counts as not found.
func (f files) readError(path string, err error) error {
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	if errors.Is(err, syscall.ENOTDIR) {
		err = fs.ErrNotExist
	}
	return fmt.Errorf("reading %s: %w", f.url(path), err)
}

type openFile struct {
	*os.File
	size int64
}

func (o openFile) Size() int64 { return o.size }

// Exists reports whether a file exists; a folder is none.
func (f files) Exists(_ context.Context, path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return false, nil
	}
	if err != nil {
		return false, f.readError(path, err)
	}
	return !info.IsDir(), nil
}

// Remove removes a file. No file is no error, a folder is one.
func (f files) Remove(_ context.Context, path string) error {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		return fmt.Errorf("removing %s: it is a folder", f.url(path))
	}
	err := os.Remove(path)
	if err == nil {
		return nil
	}
	// On a read-only disk, removing an absent file fails with the same error as removing one.
	if _, absent := os.Lstat(path); errors.Is(absent, fs.ErrNotExist) || errors.Is(absent, syscall.ENOTDIR) {
		return nil
	}
	return explain("removing", f.url(path), err)
}

// RemoveAll removes a folder and all below it, but refuses the current folder, its parent and a root.
func (f files) RemoveAll(_ context.Context, path string) error {
	if clean := filepath.Clean(path); clean == "." || clean == ".." || clean == filepath.VolumeName(clean)+string(filepath.Separator) {
		return fmt.Errorf("removing %s: refused, it is not a folder of a workspace", f.url(path))
	}
	err := os.RemoveAll(path)
	if err == nil || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	// A mount point, or a folder inside a read-only one, cannot be removed and may stay empty.
	if left, unread := os.ReadDir(path); unread == nil && len(left) == 0 {
		return nil
	}
	return explain("removing", f.url(path), err)
}

// RemoveEmpty removes a folder unless something is in it. A symbolic link to a folder stays.
func (f files) RemoveEmpty(path string) {
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		_ = os.Remove(path) // fails if something is in it
	}
}

// RemoveEmptyBelow removes the folders below a folder that hold no files, innermost first.
func (f files) RemoveEmptyBelow(path string) {
	var folders []string
	_ = filepath.WalkDir(filepath.Clean(path)+string(filepath.Separator), func(name string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			folders = append(folders, name)
		}
		return nil
	})
	for i := len(folders) - 1; i > 0; i-- { // the first is the folder itself
		f.RemoveEmpty(folders[i])
	}
}

// CanExchange tries it with two folders that it makes beside the folder, if it may.
func (f files) CanExchange(path string) (bool, error) {
	path = filepath.Clean(path)
	if isMountPoint(path) {
		return false, nil
	}
	var probes [2]string
	for i := range probes {
		probe, err := os.MkdirTemp(filepath.Dir(path), TemporaryPrefix+"probe-")
		if errors.Is(err, fs.ErrPermission) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		defer os.Remove(probe)
		probes[i] = probe
	}
	exchanged, err := exchangeNames(probes[0], probes[1])
	if errors.Is(err, fs.ErrPermission) {
		return false, nil
	}
	return exchanged, err
}

// Exchange exchanges the names, and syncs the folders that hold them.
func (f files) Exchange(a, b string) (bool, error) {
	exchanged, err := exchangeNames(filepath.Clean(a), filepath.Clean(b))
	if exchanged {
		syncFolder(filepath.Dir(filepath.Clean(a)))
		syncFolder(filepath.Dir(filepath.Clean(b)))
	}
	return exchanged, err
}

// syncFolder makes renames in a folder durable, as far as the system can sync folders.
func syncFolder(path string) {
	if folder, err := os.Open(path); err == nil {
		folder.Sync()
		folder.Close()
	}
}

// OnDisk asks the system for the kind of file system.
func (f files) OnDisk(path string) bool { return isLocalDisk(path) }

// List returns the files below a folder, none if it does not exist.
func (f files) List(ctx context.Context, path string) ([]string, error) {
	var urls []string
	// The trailing separator follows a folder that is a symbolic link.
	root := filepath.Clean(path) + string(filepath.Separator)
	err := filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
				return nil
			}
			return err
		}
		if !entry.IsDir() {
			urls = append(urls, f.url(filepath.Clean(name)))
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, f.readError(path, err)
	}
	return urls, nil
}

// CheckWritable writes a temporary file into the folder or, where that is absent, into the
// innermost folder on its path that exists.
func (f files) CheckWritable(_ context.Context, path string) error {
	folder := filepath.Clean(path)
	probe, err := os.CreateTemp(folder, TemporaryPrefix+"probe-")
	for errors.Is(err, fs.ErrNotExist) && folder != filepath.Dir(folder) {
		folder = filepath.Dir(folder)
		probe, err = os.CreateTemp(folder, TemporaryPrefix+"probe-")
	}
	if err != nil {
		return explain("writing", f.url(path), err)
	}
	_, err = probe.WriteString("probe")
	err = errors.Join(err, probe.Close()) // Windows removes no open file
	removal := os.Remove(probe.Name())
	if errors.Is(removal, fs.ErrNotExist) { // the owner of the folder has cleared it
		removal = nil
	}
	if err = errors.Join(err, removal); err != nil {
		return explain("writing", f.url(path), err)
	}
	return nil
}

// CompareAndSwap holds the advisory lock of the file while it reads and writes it. The system frees
// that lock however the process ends. Where the file system has no advisory locks, only the
// creation of an absent file is exclusive. It writes only what stands at the path itself, not what a
// symbolic link there leads to.
func (f files) CompareAndSwap(_ context.Context, path string, old, replacement []byte) (bool, error) {
	if err := f.checkReplaceable(path); err != nil {
		return false, err
	}
	openFile := func() (*os.File, error) {
		if old != nil {
			return os.OpenFile(path, os.O_RDWR, 0)
		}
		if err := makeFolder(filepath.Dir(path)); err != nil {
			return nil, err
		}
		return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
	}
	// Opening tells an absent file from one that exists.
	file, err := openFile()
	for old == nil && errors.Is(err, fs.ErrNotExist) { // RemoveEmpty was between the two
		file, err = openFile()
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) && old != nil {
		return false, nil
	}
	if err != nil {
		return false, explain("writing", f.url(path), err)
	}
	defer file.Close()
	// Under the lock nobody else swaps: the content is compared and replaced.
	if err := flock(file); err != nil {
		return false, explain("locking", f.url(path), err)
	}
	current, err := io.ReadAll(file)
	if err != nil {
		return false, f.readError(path, err)
	}
	mine, err := file.Stat()
	if err != nil {
		return false, f.readError(path, err)
	}
	there, err := os.Lstat(path)
	if err != nil || !os.SameFile(mine, there) || !bytes.Equal(current, old) {
		return false, nil // removed, or written by another process, before the lock was granted
	}
	if replacement == nil {
		err = removeLocked(file, path)
	} else if err = file.Truncate(0); err == nil {
		_, err = file.WriteAt(replacement, 0)
		err = errors.Join(err, file.Sync())
	}
	if err != nil {
		return false, explain("writing", f.url(path), err)
	}
	return true, nil
}

// makeFolder makes a folder and its parents.
func makeFolder(path string) (err error) {
	for range 2 { // RemoveEmpty may be between the two steps of the first try
		if err = os.MkdirAll(path, 0o777); !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return errors.New("a symbolic link leads to a folder that does not exist: make that folder, or write elsewhere")
}

// diskFile has the methods of an open file that a writer calls; tests replace it by a full disk.
type diskFile interface {
	io.WriteCloser
	Sync() error
}

// fileWriter writes a temporary file beside the final one and renames it.
type fileWriter struct {
	file             diskFile
	temporary, final string
	url              string
	err              error // of the first write that failed: Commit repeats it
	done             bool
}

// Create begins a file under a temporary name beside its own, and makes its folders.
func (f files) Create(_ context.Context, path string) (Writer, error) {
	final := filepath.Clean(path)
	folder, name := filepath.Dir(final), filepath.Base(final)
	if info, err := os.Lstat(final); err == nil && info.IsDir() {
		return nil, fmt.Errorf("writing %s: a folder of that name is in the way", f.url(path))
	}
	if err := f.checkReplaceable(final); err != nil {
		return nil, err
	}
	if err := makeFolder(folder); err != nil {
		return nil, explain("making the folder of", f.url(path), err)
	}
	temporary := filepath.Join(folder, fmt.Sprintf("%s%s-%016x", TemporaryPrefix, name, rand.Uint64()))
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, explain("writing", f.url(path), err)
	}
	return &fileWriter{file: file, temporary: temporary, final: final, url: f.url(path)}, nil
}

// Write appends to the temporary file. After an error every call returns it.
func (w *fileWriter) Write(p []byte) (int, error) {
	if w.err == nil && w.done {
		w.err = fmt.Errorf("writing %s: %w", w.url, fs.ErrClosed)
	}
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.file.Write(p)
	if err != nil {
		w.err = explain("writing", w.url, err)
	}
	return n, w.err
}

// Commit syncs the temporary file and renames it. After an error nothing is left of it.
func (w *fileWriter) Commit() error {
	if w.done {
		return fmt.Errorf("writing %s: %w", w.url, fs.ErrClosed)
	}
	w.done = true
	if w.err != nil {
		w.file.Close()
		os.Remove(w.temporary)
		return w.err
	}
	err := errors.Join(w.file.Sync(), w.file.Close())
	if err == nil {
		err = os.Rename(w.temporary, w.final)
	}
	if err != nil {
		os.Remove(w.temporary)
		w.err = explain("writing", w.url, err)
		return w.err
	}
	syncFolder(filepath.Dir(w.final))
	return nil
}

// Abort removes the temporary file. After Commit it has no effect.
func (w *fileWriter) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	w.file.Close()
	if err := os.Remove(w.temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain("removing", w.url, err)
	}
	return nil
}
