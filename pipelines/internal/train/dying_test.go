package train

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"

	"tagnet/formats/storage"
	"tagnet/formats/storage/storagetest"
)

// dieAt in the environment of a process is the number of the change of a file at which it kills
// itself, from 1.
const dieAt = "TAGNET_TEST_DIE_AT"

// dying is the local file system with a scheme of its own. It counts changes of files, and kills
// the process in the middle of one, which shows every state that a killed process can leave,
// however fast the machine is.
type dying struct {
	storagetest.Over
	at      int64 // 0 for never
	changes atomic.Int64
}

const dyingScheme = "dying://"

var dyingStorage dying

func init() {
	dyingStorage.at, _ = strconv.ParseInt(os.Getenv(dieAt), 10, 64)
	storage.Register("dying", &dyingStorage)
}

// fatal counts a change and reports whether the process dies in it.
func (d *dying) fatal() bool { return d.changes.Add(1) == d.at }

// die does not return.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// change makes a change. A process that dies does so before it or, every other time, after it.
func (d *dying) change(do func() error) error {
	if !d.fatal() {
		return do()
	}
	if d.at%2 == 0 {
		_ = do()
	}
	die()
	return nil
}

func (d *dying) Remove(ctx context.Context, path string) error {
	return d.change(func() error { return d.Over.Remove(ctx, path) })
}

func (d *dying) RemoveAll(ctx context.Context, path string) error {
	return d.change(func() error { return d.Over.RemoveAll(ctx, path) })
}

func (d *dying) CompareAndSwap(ctx context.Context, path string, old, replacement []byte) (swapped bool, err error) {
	err = d.change(func() (err error) {
		swapped, err = d.Over.CompareAndSwap(ctx, path, old, replacement)
		return err
	})
	return swapped, err
}

// List walks the folder itself, because storage.List leaves temporary files out.
func (d *dying) List(_ context.Context, path string) (urls []string, err error) {
	err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			urls = append(urls, dyingScheme+file)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return urls, err
}

func (d *dying) Create(ctx context.Context, path string) (storage.Writer, error) {
	w, err := d.Over.Create(ctx, path)
	return dyingWriter{w, d}, err
}

type dyingWriter struct {
	storage.Writer
	d *dying
}

// Write writes the first half before the process dies.
func (w dyingWriter) Write(data []byte) (int, error) {
	if w.d.fatal() {
		_, _ = w.Writer.Write(data[:len(data)/2])
		die()
	}
	return w.Writer.Write(data)
}

func (w dyingWriter) Commit() error { return w.d.change(w.Writer.Commit) }
