package lock

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Indices of fields behind the command name of /proc/PID/stat.
const (
	stateField = 0
	startField = 19
)

// processStart returns the start of a process in clock ticks since boot, or "" where the system does
// not tell. ended is true for a process of which only its exit status is left.
func processStart(process int) (start string, ended bool) {
	// A /proc of another PID namespace has other processes by these ids.
	if self, _ := os.Readlink("/proc/self"); self != strconv.Itoa(os.Getpid()) {
		return "", false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return "", false
	}
	// The command name stands in parentheses and may hold any character.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= startField {
		return "", false
	}
	state := fields[stateField][0]
	return string(fields[startField]), state == 'Z' || state == 'X'
}

// alive returns false if no process of this host has the id, or one that started at another time.
func alive(process int, started string) bool {
	found, err := os.FindProcess(process)
	if err != nil {
		return false
	}
	defer found.Release()
	if err := found.Signal(syscall.Signal(0)); errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return false
	}
	now, ended := processStart(process)
	return !ended && (started == "" || now == "" || now == started)
}
