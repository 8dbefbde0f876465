package storage

import (
	"errors"

	"golang.org/x/sys/unix"
)

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
