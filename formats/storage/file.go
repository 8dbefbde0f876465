package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// files is this machine's file system, for plain paths and file://.
type files struct{ scheme string }

// url gives a path the form in which its folder was asked for.
func (f files) url(path string) string {
	if f.scheme == "" {
		return path
	}
	return f.scheme + "://" + filepath.ToSlash(path)
}

func (f files) Open(ctx context.Context, path string) (io.ReadCloser, error) {
	return f.OpenRandom(ctx, path)
}

func (f files) OpenRandom(_ context.Context, path string) (RandomReader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, f.readError(path, err)
	}
	info, err := file.Stat()
	if err == nil && info.IsDir() {
		err = syscall.EISDIR
	}
	if err != nil {
		file.Close()
		return nil, f.readError(path, err)
	}
	return openFile{file, info.Size()}, nil
}

// readError names the file as the user did. A path that leads through a file is as absent
// as any other.
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

func (f files) Remove(_ context.Context, path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("removing %s: it is a folder", f.url(path))
	}
	err := os.Remove(path)
	if err == nil {
		return nil
	}
	// What is absent is looked for: on a read-only disk to remove it fails as if it were there.
	if _, absent := os.Lstat(path); errors.Is(absent, fs.ErrNotExist) || errors.Is(absent, syscall.ENOTDIR) {
		return nil
	}
	return explain("removing", f.url(path), err)
}

func (f files) RemoveAll(_ context.Context, path string) error {
	if clean := filepath.Clean(path); clean == "." || clean == ".." || clean == filepath.VolumeName(clean)+string(filepath.Separator) {
		return fmt.Errorf("removing %s: refused, it is more than a workspace", f.url(path))
	}
	err := os.RemoveAll(path)
	if err == nil || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	// A folder that has to stay, for something is mounted there or the one around it is read-only,
	// may stay empty.
	if left, unread := os.ReadDir(path); unread == nil && len(left) == 0 {
		return nil
	}
	return explain("removing", f.url(path), err)
}

func (f files) List(ctx context.Context, path string) ([]string, error) {
	var urls []string
	// The separator makes a folder that is a symbolic link be followed.
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

func (f files) CheckWritable(ctx context.Context, path string) error {
	w, err := f.Create(ctx, filepath.Join(path, "probe"))
	if err != nil {
		return err
	}
	defer w.Abort()
	_, err = w.Write([]byte("probe"))
	return err
}

// diskFile is what a writer needs of an open file; tests put a full disk in its place.
type diskFile interface {
	io.WriteCloser
	Sync() error
}

// fileWriter writes a temporary file beside the final one and renames it.
type fileWriter struct {
	file             diskFile
	temporary, final string
	url              string
	made             []string // folders that were made for it, the innermost first
	err              error    // of the first write that failed: Commit repeats it
	done             bool
}

func (f files) Create(_ context.Context, path string) (Writer, error) {
	folder, name := filepath.Dir(filepath.Clean(path)), filepath.Base(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("writing %s: a folder of that name is in the way", f.url(path))
	}
	removeStale(folder, name)
	var made []string
	for range 100 {
		// Each time, for another writer may have dropped a file and the folder with it.
		if absent := missing(folder); len(absent) > len(made) {
			made = absent
		}
		// One that is made by another writer and dropped again, just then, "exists".
		if err := os.MkdirAll(folder, 0o777); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
			continue
		} else if err != nil {
			removeEmpty(made)
			return nil, explain("making the folder of", f.url(path), err)
		}
		temporary := filepath.Join(folder, fmt.Sprintf("%s%s-%016x", TemporaryPrefix, name, rand.Uint64()))
		file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			removeEmpty(made)
			return nil, explain("writing", f.url(path), err)
		}
		if !claim(file, temporary) {
			file.Close()
			continue
		}
		return &fileWriter{file: file, temporary: temporary, final: filepath.Clean(path), url: f.url(path), made: made}, nil
	}
	removeEmpty(made)
	return nil, fmt.Errorf("writing %s: no temporary file could be made in 100 attempts", f.url(path))
}

// missing lists a folder and those that lead to it, as far as they are not there, the innermost
// first.
func missing(folder string) []string {
	var absent []string
	for {
		_, err := os.Lstat(folder)
		outer := filepath.Dir(folder)
		if !errors.Is(err, fs.ErrNotExist) || outer == folder {
			return absent
		}
		absent = append(absent, folder)
		folder = outer
	}
}

// removeEmpty removes folders, the innermost first, up to one that something is in.
func removeEmpty(folders []string) {
	for _, folder := range folders {
		if os.Remove(folder) != nil {
			return
		}
	}
}

// claim locks a new temporary file, so that no other process takes it for a leftover. It is
// false where one did between the file's making and its lock.
func claim(file *os.File, name string) bool {
	if lock(file) == lockTaken {
		return false
	}
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	there, err := os.Stat(name)
	return err == nil && os.SameFile(mine, there)
}

// removeStale removes temporary files of the given name whose writer is gone: those that no
// living process has locked, or, where the file system has no locks, those a day old.
func removeStale(folder, name string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return // Create will say what is wrong with the folder
	}
	for _, entry := range entries {
		suffix, found := strings.CutPrefix(entry.Name(), TemporaryPrefix+name+"-")
		if !found || len(suffix) != 16 || strings.Trim(suffix, "0123456789abcdef") != "" {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			continue
		}
		info, err := file.Stat()
		state := lock(file)
		if state == lockGranted || state == lockUnsupported && err == nil && time.Since(info.ModTime()) > 24*time.Hour {
			os.Remove(path)
		}
		file.Close()
	}
}

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

func (w *fileWriter) Commit() error {
	if w.done {
		return fmt.Errorf("writing %s: %w", w.url, fs.ErrClosed)
	}
	w.done = true
	if w.err == nil {
		if err := w.file.Sync(); err != nil {
			w.err = explain("writing", w.url, err)
		}
	}
	if w.err != nil {
		w.file.Close()
		os.Remove(w.temporary)
		removeEmpty(w.made)
		return w.err
	}
	if err := publish(w.file, w.temporary, w.final); err != nil {
		os.Remove(w.temporary)
		removeEmpty(w.made)
		w.err = explain("writing", w.url, err)
		return w.err
	}
	return nil
}

func (w *fileWriter) Abort() error {
	if w.done {
		return nil
	}
	w.done = true
	w.file.Close()
	if err := os.Remove(w.temporary); err != nil {
		return explain("dropping", w.url, err)
	}
	removeEmpty(w.made)
	return nil
}
