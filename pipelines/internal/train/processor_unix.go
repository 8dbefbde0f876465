//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package train

import (
	"syscall"
	"time"
)

// processorTime returns the processor time that the process has taken, or 0 where it is not known.
func processorTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
