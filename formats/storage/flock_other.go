//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package storage

import (
	"errors"
	"os"
)

// flock does nothing: the package syscall of these systems has no advisory locks.
func flock(*os.File) error { return nil }

// removeLocked closes a file and removes it: Windows removes no file that is open.
func removeLocked(file *os.File, path string) error {
	return errors.Join(file.Close(), os.Remove(path))
}
