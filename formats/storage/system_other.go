//go:build !linux

package storage

// These systems do not tell which disks are local and which folders are mount points, and have no call that exchanges
// names.

func isLocalDisk(string) bool { return false }

func isMountPoint(string) bool { return false }

func exchangeNames(_, _ string) (bool, error) { return false, nil }
