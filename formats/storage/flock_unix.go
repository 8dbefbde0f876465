//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package storage

import (
	"errors"
	"os"
	"syscall"
)

// flock waits for the advisory lock of an open file, which closing the file frees. A file system
// without such locks is no error.
func flock(file *os.File) error {
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.ENOTSUP), errors.Is(err, syscall.ENOSYS), errors.Is(err, syscall.ENOLCK), errors.Is(err, syscall.EINVAL):
			return nil
		}
		return err
	}
}

// removeLocked removes a file while it is open and locked, so that no other process writes it meanwhile.
func removeLocked(_ *os.File, path string) error { return os.Remove(path) }
