//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// terminate asks a process to end.
const terminate = syscall.SIGTERM

// separate keeps the interrupts of the terminal from a process: it would get the first one twice, the second time from Interrupt,
// and end without a checkpoint.
func separate(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
