//go:build !linux

package storage

// exchange is not known here.
func exchange(_, _ string) (bool, error) { return false, nil }

func isMountPoint(string) bool { return false }
