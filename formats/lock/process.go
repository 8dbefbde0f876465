package lock

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// startField is the index of starttime behind the command name of /proc/PID/stat.
const startField = 19

// processStart returns the start of a process in clock ticks since boot, or "" where the system does
// not tell.
func processStart(process int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return ""
	}
	// The command name stands in parentheses and may hold any character.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= startField {
		return ""
	}
	return string(fields[startField])
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
	now := processStart(process)
	return started == "" || now == "" || now == started
}
