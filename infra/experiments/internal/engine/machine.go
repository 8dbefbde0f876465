package engine

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"tagnet/formats/workspace/results"
)

// Machine describes this machine.
func Machine() results.Machine {
	m := results.Machine{Processor: runtime.GOARCH, Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	text, err := os.ReadFile("/proc/cpuinfo") // of Linux
	if err != nil {
		return m
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			m.Processor = strings.TrimSpace(value)
			break
		}
	}
	return m
}

// Load returns the mean number of processes that wanted to run in the last minute, 0 if the system does not say.
func Load() float64 {
	var load float64
	if text, err := os.ReadFile("/proc/loadavg"); err == nil { // of Linux
		fmt.Sscan(string(text), &load)
	}
	return load
}

// deviceLine matches what train prints about the device that it computes on.
var deviceLine = regexp.MustCompile(`cuda:\d+ \(([^)\n]+)\)`)

// device returns the name of the CUDA device in a log, or "".
func device(log string) string {
	text, err := os.ReadFile(log)
	if err != nil {
		return ""
	}
	if found := deviceLine.FindAllSubmatch(text, -1); len(found) > 0 {
		return string(found[len(found)-1][1])
	}
	return ""
}

// deviceOf returns the name of the device that computed epochs with these kernels, or "" if no kernel ran on a device. logged is the name in
// the log, which may belong to an earlier training.
func deviceOf(kernels []string, logged string) string {
	if !slices.Contains(kernels, "cuda") {
		return ""
	}
	return cmp.Or(logged, "cuda")
}
