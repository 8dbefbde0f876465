package storage

import "syscall"

// isLocalDisk reports whether statfs returns the type of a file system of local disks. It returns false for network
// file systems and all others that a program or another machine serves, or that several machines mount at once.
func isLocalDisk(path string) bool {
	const ext, xfs, btrfs, f2fs, zfs = 0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1
	var s syscall.Statfs_t
	if syscall.Statfs(path, &s) != nil {
		return false
	}
	switch uint32(s.Type) {
	case ext, xfs, btrfs, f2fs, zfs:
		return true
	}
	return false
}
