//go:build !linux

package storage

// isLocalDisk returns false, as this system does not tell.
func isLocalDisk(string) bool { return false }
