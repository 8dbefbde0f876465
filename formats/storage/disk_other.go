//go:build !linux

package storage

// isLocalDisk is false: it is not known.
func isLocalDisk(string) bool { return false }
