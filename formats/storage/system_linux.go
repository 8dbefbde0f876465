package storage

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

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

// isMountPoint reports whether the root of a file system is mounted at a folder, which then keeps its name.
func isMountPoint(path string) bool {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, 0, &s)
	return err == nil && s.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}

// exchangeNames gives two folders each other's names in one step, and reports false where the file system cannot.
func exchangeNames(a, b string) (bool, error) {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	for _, cannot := range []error{unix.EINVAL, unix.ENOSYS, unix.ENOTSUP, unix.EXDEV, unix.EBUSY} { // the last two of mount points
		if errors.Is(err, cannot) {
			return false, nil
		}
	}
	return err == nil, err
}
