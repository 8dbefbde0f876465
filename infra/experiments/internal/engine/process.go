package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"tagnet/formats/names"
)

// Processes holds the running processes. Interrupt passes an interrupt on to all of them.
type Processes struct {
	// Folder is where they run, the current folder if it is empty.
	Folder string

	mu          sync.Mutex
	running     map[*exec.Cmd]bool
	interrupted bool
}

// errInterrupted is the error of a process that is not started after an interrupt, or that one ended.
var errInterrupted = errors.New("interrupted")

// Interrupt asks all processes to end, which a training does after it has saved a checkpoint. The second call ends them at once.
func (p *Processes) Interrupt() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.interrupted = true
	for c := range p.running {
		c.Process.Signal(terminate) // an error means that it has ended
	}
}

// Interrupted reports whether Interrupt was called.
func (p *Processes) Interrupted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.interrupted
}

// Usage has the resources that a process used: elapsed time, processor time in user and system mode, and peak resident memory in MiB (0 if
// the system does not report it). Child processes that it waited for are included.
type Usage struct{ Seconds, CPUSeconds, PeakMiB float64 }

// Run runs a program, and appends its command line as one of tagnet and what it prints to a log. The error of a process that failed is
// a *Failure.
func (p *Processes) Run(log, program string, arguments ...string) (Usage, error) {
	if err := os.MkdirAll(filepath.Dir(log), 0o777); err != nil {
		return Usage{}, err
	}
	file, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return Usage{}, err
	}
	defer file.Close()
	fmt.Fprintf(file, "%s: tagnet %s\n", time.Now().Format(time.DateTime), names.CommandLine(arguments...))
	took, err := p.run(file, program, arguments...)
	return took, failed(log, err)
}

// run runs a program and appends what it prints to a file. The process gets no interrupts from the terminal, only those of Interrupt.
func (p *Processes) run(log *os.File, program string, arguments ...string) (Usage, error) {
	c := exec.Command(program, arguments...)
	c.Stdout, c.Stderr, c.Dir = log, log, p.Folder
	separate(c)
	begun := time.Now()
	p.mu.Lock()
	if p.interrupted {
		p.mu.Unlock()
		return Usage{}, errInterrupted
	}
	err := c.Start()
	if err == nil {
		if p.running == nil {
			p.running = map[*exec.Cmd]bool{}
		}
		p.running[c] = true
	}
	p.mu.Unlock()
	if err != nil {
		return Usage{}, err
	}
	err = c.Wait()
	p.mu.Lock()
	delete(p.running, c)
	interrupted := p.interrupted
	p.mu.Unlock()
	took := Usage{time.Since(begun).Seconds(), (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), peakMiB(c.ProcessState)}
	if err != nil && interrupted {
		err = errInterrupted
	}
	return took, err
}

// lastLine returns the last line of a log that is not empty, without the progress before it.
func lastLine(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	lines := strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range slices.Backward(lines) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// Failure is the failure of a process.
type Failure struct {
	// Log is the file with what it printed, Line the last line of it.
	Log, Line string
	err       error
}

// Error names the log and its last line.
func (f *Failure) Error() string { return fmt.Sprintf("%s (%v; log: %s)", f.Line, f.err, f.Log) }

// Unwrap returns the process's own error.
func (f *Failure) Unwrap() error { return f.err }

// failed returns the error of a process, with the end of its log.
func failed(log string, err error) error {
	if err == nil || errors.Is(err, errInterrupted) || errors.Is(err, context.Canceled) {
		return err
	}
	return &Failure{Log: log, Line: lastLine(log), err: err}
}
