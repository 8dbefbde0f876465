package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process is one that startProcess started.
type Process struct {
	Name string
	PID  int
}

// startProcess starts a program that outlives this process, with its output in log/NAME.log and its number in pid/NAME.
func startProcess(folder, name, program string, arguments ...string) error {
	for _, kind := range []string{"log", "pid"} {
		if err := os.MkdirAll(filepath.Join(folder, kind), 0o777); err != nil {
			return fmt.Errorf("starting %s: %w", name, err)
		}
	}
	log, err := os.OpenFile(filepath.Join(folder, "log", name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	defer log.Close()
	c := exec.Command(program, arguments...)
	c.Stdout, c.Stderr = log, log
	c.Dir = folder
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C on the terminal does not reach it
	if err := c.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", name, err)
	}
	go c.Wait() // no zombie remains, in a test that kills it
	if err := os.WriteFile(filepath.Join(folder, "pid", name), []byte(strconv.Itoa(c.Process.Pid)), 0o666); err != nil {
		c.Process.Kill()
		return fmt.Errorf("starting %s: %w", name, err)
	}
	awaitCommandLine(c.Process.Pid)
	return nil
}

// awaitCommandLine returns when the command line of a process that begins can be read, by which Running knows it, or
// the process has ended. The kernel closes the files by which exec.Cmd.Start sees that the program was found before it
// has laid out the program's arguments.
func awaitCommandLine(pid int) {
	for {
		command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if err != nil || len(command) > 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// Running returns the processes of the cluster in a folder that run.
func Running(folder string) ([]Process, error) {
	files, err := os.ReadDir(filepath.Join(folder, "pid"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reading the cluster's processes: %w", err)
	}
	var running []Process
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, "pid", file.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading the cluster's processes: %w", err)
		}
		p := Process{Name: file.Name()}
		if p.PID, err = strconv.Atoi(strings.TrimSpace(string(text))); err == nil && p.runs(folder) {
			running = append(running, p)
		}
	}
	return running, nil
}

// runs reports whether the process is still the one that startProcess started: numbers are used again.
func (p Process) runs(folder string) bool {
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID))
	return err == nil && bytes.Contains(command, []byte(filepath.Join(folder, "tmp", p.Name)+"\x00"))
}

// stopTimeout is how long a process may take to end after a SIGTERM, before it is killed.
const stopTimeout = 20 * time.Second

// Stop ends all processes of the cluster in a folder, TaskManagers last, whose workers end with
// them. It keeps the logs.
func Stop(folder string) error {
	running, err := Running(folder)
	if err != nil {
		return err
	}
	for _, p := range running {
		if err := syscall.Kill(p.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("stopping %s: %w", p.Name, err)
		}
	}
	deadline := time.Now().Add(stopTimeout)
	for _, p := range running {
		for p.runs(folder) {
			if time.Now().After(deadline) {
				syscall.Kill(p.PID, syscall.SIGKILL)
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	for _, rest := range []string{"pid", "tmp", "conf", "artifacts"} {
		if err := os.RemoveAll(filepath.Join(folder, rest)); err != nil {
			return fmt.Errorf("removing what the cluster wrote: %w", err)
		}
	}
	return nil
}

// Kill ends a process of the cluster at once, as a failing host does.
func Kill(folder, name string) error {
	running, err := Running(folder)
	if err != nil {
		return err
	}
	for _, p := range running {
		if p.Name == name {
			return syscall.Kill(p.PID, syscall.SIGKILL)
		}
	}
	return fmt.Errorf("killing %s: it does not run", name)
}
