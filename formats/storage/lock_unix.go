//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package storage

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// lock takes the file's advisory lock without waiting. The kernel gives it back when the
// file is closed or the process dies, however it dies.
func lock(file *os.File) lockState {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil:
		return lockGranted
	case errors.Is(err, syscall.EWOULDBLOCK):
		return lockTaken
	}
	return lockUnsupported
}

// publish gives a synced temporary file its final name while its lock is still held, and
// makes the name itself durable.
func publish(file diskFile, temporary, final string) error {
	if err := os.Rename(temporary, final); err != nil {
		file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		os.Remove(final)
		return err
	}
	folder, err := os.Open(filepath.Dir(final))
	if err != nil {
		return nil // a folder that may be written but not read: the name is durable soon enough
	}
	defer folder.Close()
	if err := folder.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		os.Remove(final)
		return err
	}
	return nil
}
