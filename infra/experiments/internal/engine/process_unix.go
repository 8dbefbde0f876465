//go:build unix

package engine

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// terminate asks a process to end.
const terminate = syscall.SIGTERM

// separate keeps the interrupts of the terminal from a process: it would get the first one twice, the second time from Interrupt,
// and end without a checkpoint.
func separate(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// peakMiB returns the largest resident memory of a process that has ended. On Linux it is at least that of this process when it started the
// other.
func peakMiB(s *os.ProcessState) float64 {
	used, ok := s.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return float64(used.Maxrss) / (1 << 20) // bytes
	}
	return float64(used.Maxrss) / (1 << 10) // KiB
}
