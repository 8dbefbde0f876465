//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package storage

import "os"

func lock(*os.File) lockState { return lockUnsupported }

// publish closes first: these systems do not rename open files.
func publish(file diskFile, temporary, final string) error {
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(temporary, final)
}
