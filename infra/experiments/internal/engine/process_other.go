//go:build !unix

package engine

import (
	"os"
	"os/exec"
)

// terminate asks a process to end.
var terminate = os.Interrupt

func separate(*exec.Cmd) {}

func peakMiB(*os.ProcessState) float64 { return 0 }
