package engine

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"tagnet/formats/names"
)

// patience is how long an interrupted process may take to save what it has.
const patience = 5 * time.Minute

// process runs a program in the folder of the work, appends its command line and what it prints to a log, and returns
// the latter with what it took. When the context ends, the process gets SIGTERM, after which a training saves a
// checkpoint. When enough, if it is not nil, returns true, it is killed and has succeeded.
func (e *Engine) process(ctx context.Context, log, program string, arguments []string, enough func() bool) (printed string, took Measured, err error) {
	if err := os.MkdirAll(filepath.Dir(log), 0o777); err != nil {
		return "", took, err
	}
	file, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return "", took, err
	}
	defer file.Close()
	fmt.Fprintf(file, "%s: %s %s\n", time.Now().Format(time.DateTime), filepath.Base(program), names.CommandLine(arguments...))
	before, err := file.Seek(0, 2)
	if err != nil {
		return "", took, err
	}
	c := exec.CommandContext(ctx, program, arguments...)
	c.Stdout, c.Stderr, c.Dir, c.WaitDelay = file, file, e.work(), patience
	c.Cancel = func() error {
		fmt.Fprintln(e.Diagnostics, "interrupted: waiting for the command to save what it has")
		return c.Process.Signal(syscall.SIGTERM)
	}
	// A terminal interrupts its process group: the process would get two interrupts, and the second one
	// would end it at once.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	begun := time.Now()
	if err = c.Start(); err != nil {
		return "", took, err
	}
	if enough == nil {
		err = c.Wait()
	} else {
		ended, killed := make(chan struct{}), make(chan bool)
		go func() { killed <- kill(c.Process, enough, ended) }()
		err = c.Wait()
		if close(ended); <-killed {
			err = nil
		}
	}
	took = Measured{Seconds: time.Since(begun).Seconds(), CPUSeconds: (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds()}
	if used, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		took.PeakMiB = float64(used.Maxrss) / (1 << 10)
		if runtime.GOOS == "darwin" { // in bytes
			took.PeakMiB /= 1 << 10
		}
	}
	text, _ := os.ReadFile(log)
	printed = strings.TrimSpace(string(text[min(int(before), len(text)):]))
	if ctx.Err() != nil {
		return printed, took, ctx.Err()
	}
	if err != nil {
		err = fmt.Errorf("%s (%w; log: %s)", strings.TrimSpace(printed[strings.LastIndexAny(printed, "\r\n")+1:]), err, log)
	}
	return printed, took, err
}

// kill waits until a process has ended, or enough returns true: then it kills the process and returns true.
func kill(p *os.Process, enough func() bool, ended <-chan struct{}) bool {
	for {
		select {
		case <-ended:
			return false
		case <-time.After(50 * time.Millisecond):
			if enough() {
				return p.Kill() == nil
			}
		}
	}
}

// output runs a program and returns what it prints. The error has what it printed as an error.
func output(ctx context.Context, program string, arguments ...string) (string, error) {
	c := exec.CommandContext(ctx, program, arguments...)
	var diagnostics strings.Builder
	c.Stderr = &diagnostics
	text, err := c.Output()
	if err != nil {
		err = fmt.Errorf("%s %s: %w: %s", program, strings.Join(arguments, " "), err, strings.TrimSpace(diagnostics.String()))
	}
	return strings.TrimSpace(string(text)), err
}
