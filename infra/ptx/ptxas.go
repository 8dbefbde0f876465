package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"

	"tagnet/model/parallel"
)

// architectures lists the graphics cards whose resources are reported: A100 and H100.
var architectures = []string{"sm_80", "sm_90"}

// function holds the resources of a kernel, or of a function that kernels call, on an architecture.
type function struct {
	file, architecture string
	name               string
	kernel             bool
	registers          int // per thread
	shared             int // bytes of a block
	// Local memory: the bytes that a thread takes, and those that it writes and reads for want of registers.
	stack, stores, loads int
}

// inspectFunc returns the resources of the functions in a PTX file on an architecture.
type inspectFunc func(ctx context.Context, name, ptx, architecture string) ([]function, error)

// inspect assembles PTX with ptxas for its report.
func (t toolchain) inspect(ctx context.Context, name, ptx, architecture string) ([]function, error) {
	folder, err := os.MkdirTemp("", "ptx-*")
	if err != nil {
		return nil, fmt.Errorf("assembling %s: %w", name, err)
	}
	defer os.RemoveAll(folder)
	if err := os.WriteFile(filepath.Join(folder, name), []byte(ptx), 0o600); err != nil {
		return nil, fmt.Errorf("assembling %s: %w", name, err)
	}
	command := exec.CommandContext(ctx, t.ptxas, "-arch="+architecture, "-v", "-o", os.DevNull, name)
	command.Dir = folder
	text, err := command.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("assembling %s for %s: %w: %s", name, architecture, err, bytes.TrimSpace(text))
	}
	functions, err := parseResources(string(text))
	if err != nil {
		return nil, fmt.Errorf("assembling %s for %s: %w", name, architecture, err)
	}
	return functions, nil
}

var (
	entryLine    = regexp.MustCompile(`Compiling entry function '([^']+)' for`)
	functionLine = regexp.MustCompile(`Function properties for (\S+)`)
	localLine    = regexp.MustCompile(`^\s*(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads`)
	usedLine     = regexp.MustCompile(`Used (\d+) registers`)
	sharedBytes  = regexp.MustCompile(`(\d+) bytes smem`)
)

// parseResources reads what ptxas -v prints. A kernel begins with a line that says it is an entry; the properties of the
// functions it calls without inlining them follow its own, without registers, which count as the kernel's.
func parseResources(text string) ([]function, error) {
	var functions []function
	entry := "" // the kernel being compiled
	kernel := func() *function {
		for i := range functions {
			if functions[i].name == entry {
				return &functions[i]
			}
		}
		return nil
	}
	for _, line := range strings.Split(text, "\n") {
		if match := entryLine.FindStringSubmatch(line); match != nil {
			entry = match[1]
		} else if match := functionLine.FindStringSubmatch(line); match != nil {
			functions = append(functions, function{name: match[1], kernel: match[1] == entry})
		} else if match := localLine.FindStringSubmatch(line); match != nil && len(functions) > 0 {
			f := &functions[len(functions)-1]
			f.stack, f.stores, f.loads = number(match[1]), number(match[2]), number(match[3])
		} else if match := usedLine.FindStringSubmatch(line); match != nil {
			f := kernel()
			if f == nil {
				return nil, fmt.Errorf("ptxas reports registers before a kernel: %q", line)
			}
			f.registers = number(match[1])
			if match := sharedBytes.FindStringSubmatch(line); match != nil {
				f.shared = number(match[1])
			}
		}
	}
	for _, f := range functions {
		if f.kernel && f.registers == 0 {
			return nil, fmt.Errorf("ptxas reports no registers of kernel %s", f.name)
		}
	}
	if kernel() == nil {
		return nil, errors.New("ptxas reports no kernel: a source needs a function that is extern \"C\" __global__")
	}
	return functions, nil
}

// number returns the value of digits that a pattern matched.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		panic(err) // more digits than an int holds
	}
	return n
}

// inspectAll returns the resources of all functions: by unit, and within a unit by architecture.
func inspectAll(ctx context.Context, units []unit, compiled []string, inspect inspectFunc) ([]function, error) {
	parts := make([][]function, len(units)*len(architectures))
	err := parallel.Try(ctx, runtime.GOMAXPROCS(0), len(parts), func(ctx context.Context, _, i int) error {
		u, architecture := i/len(architectures), architectures[i%len(architectures)]
		functions, err := inspect(ctx, units[u].output(), compiled[u], architecture)
		for j := range functions {
			functions[j].file, functions[j].architecture = units[u].output(), architecture
		}
		parts[i] = functions
		return err
	})
	var all []function
	for _, part := range parts {
		all = append(all, part...)
	}
	return all, err
}

// printResources prints a line for each kernel, with the registers per thread, the bytes of shared memory per block and
// of local memory per thread on each architecture.
func printResources(out io.Writer, functions []function) {
	type key struct{ file, name string }
	lines := map[key][]string{}
	var order []key
	for _, f := range functions {
		if !f.kernel {
			continue
		}
		k := key{f.file, f.name}
		if lines[k] == nil {
			order = append(order, k)
		}
		lines[k] = append(lines[k], fmt.Sprintf("%d\t%d\t%d", f.registers, f.shared, f.stack))
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer table.Flush()
	fmt.Fprint(table, "file\tkernel")
	for _, architecture := range architectures {
		fmt.Fprintf(table, "\t%s registers\tshared\tlocal", architecture)
	}
	fmt.Fprintln(table)
	for _, k := range order {
		fmt.Fprintf(table, "%s\t%s\t%s\n", k.file, k.name, strings.Join(lines[k], "\t"))
	}
}

// mostShared is the shared memory that a block may declare. ptxas accepts all that an architecture has, but beyond
// this a launch must size the memory itself and opt in.
const mostShared = 48 << 10

// excesses returns an error for each function that takes what it should not: more shared memory than a block may
// declare, or local memory, which is as slow as global memory, unless that is allowed. The model's kernels are written so
// that all values of a thread fit its registers.
func excesses(functions []function, local bool) []error {
	var problems []error
	for _, f := range functions {
		if f.shared > mostShared {
			problems = append(problems, fmt.Errorf("%s: %s takes %d bytes of shared memory on %s, more than the %d that a block may declare; use smaller tiles",
				f.file, f.name, f.shared, f.architecture, mostShared))
		}
		if !local && f.stack+f.stores+f.loads > 0 {
			problems = append(problems, fmt.Errorf("%s: %s takes local memory on %s: %d bytes of stack, %d of spill stores, %d of spill loads; let threads hold fewer values, or index arrays by constants only",
				f.file, f.name, f.architecture, f.stack, f.stores, f.loads))
		}
	}
	return problems
}
