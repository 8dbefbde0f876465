//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package storage

import "os"

// flock does nothing: the package syscall of these systems has no advisory locks.
func flock(*os.File) error { return nil }
