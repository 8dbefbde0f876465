//go:build !linux

package storage

// exchangeNames returns false, as this system has no such call.
func exchangeNames(_, _ string) (bool, error) { return false, nil }

func isMountPoint(string) bool { return false }
