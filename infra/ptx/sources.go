package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"tagnet/model/parallel"
)

// dimensions lists the embedding dimensions that the kernels are compiled for.
var dimensions = []int{32, 64, 128}

// messages lists the message functions that kernels are compiled for, as the configuration names them.
var messages = []string{"distmult", "transe", "rotate"}

// withMessages is the first line of a source that depends on the message function.
const withMessages = "// messages: all"

// withoutDimension is the first line of a source that does not depend on the dimension.
const withoutDimension = "// dims: none"

// nvrtcOptions are the compiler's options for all kernels. compute_80 is the oldest architecture with what the kernels
// use, and drivers compile its PTX for all later ones. Without fused multiply-add the compiler rounds each operation as
// the source says, so that a card, the interpreter and Go compute equal bits.
var nvrtcOptions = []string{"--gpu-architecture=compute_80", "--fmad=false", "--std=c++17"}

// header is a file that sources include.
type header struct{ name, text string }

// unit is a source to compile to one PTX file.
type unit struct {
	source, text string
	dimension    int    // the macro DIM; 0 for none
	message      string // the macro MESSAGE, in capitals; empty for none
}

// output returns the name of the PTX file: update_32.ptx, reach.ptx without a dimension, or aggregate_32_transe.ptx with a message function.
func (u unit) output() string {
	name := strings.TrimSuffix(u.source, ".cu")
	if u.dimension > 0 {
		name += "_" + strconv.Itoa(u.dimension)
	}
	if u.message != "" {
		name += "_" + u.message
	}
	return name + ".ptx"
}

func (u unit) options() []string {
	options := append([]string(nil), nvrtcOptions...)
	if u.dimension > 0 {
		options = append(options, "-DDIM="+strconv.Itoa(u.dimension))
	}
	if u.message != "" {
		options = append(options, "-DMESSAGE="+strings.ToUpper(u.message))
	}
	return options
}

// readSources reads the sources of a folder, as the units to compile, and the headers, both in the order of their names.
func readSources(folder string) (units []unit, headers []header, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, nil, fmt.Errorf("reading the kernels: %w; run from the root of the repository, or name the folder with --kernels", err)
	}
	outputs := map[string]string{}
	for _, entry := range entries {
		name, extension := entry.Name(), filepath.Ext(entry.Name())
		if extension != ".cu" && extension != ".cuh" && extension != ".h" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, nil, fmt.Errorf("reading the kernels: %w", err)
		}
		if bytes.IndexByte(text, 0) >= 0 {
			return nil, nil, fmt.Errorf("reading the kernels: %s has a zero byte, so it is not a source", filepath.Join(folder, name))
		}
		if extension != ".cu" {
			headers = append(headers, header{name, string(text)})
			continue
		}
		for _, u := range unitsOf(name, string(text)) {
			if other := outputs[u.output()]; other != "" {
				return nil, nil, fmt.Errorf("%s and %s both compile to %s: rename one", other, name, u.output())
			}
			outputs[u.output()] = name
			units = append(units, u)
		}
	}
	if len(units) == 0 {
		return nil, nil, fmt.Errorf("reading the kernels: %s has no *.cu", folder)
	}
	return units, headers, nil
}

// unitsOf returns what a source compiles to: a unit for each dimension, and message function where it says so, or one.
func unitsOf(name, text string) []unit {
	first, _, _ := strings.Cut(text, "\n")
	functions := []string{""}
	switch strings.TrimSpace(first) {
	case withoutDimension:
		return []unit{{source: name, text: text}}
	case withMessages:
		functions = messages
	}
	var units []unit
	for _, dimension := range dimensions {
		for _, message := range functions {
			units = append(units, unit{name, text, dimension, message})
		}
	}
	return units
}

// compileFunc compiles CUDA C to PTX. Warnings are what the compiler has to say about a source that it accepts.
type compileFunc func(name, text string, headers []header, options []string) (ptx, warnings string, err error)

// compileAll compiles units on all processors and returns their PTX, in their order.
func compileAll(ctx context.Context, units []unit, headers []header, compile compileFunc, diagnostics io.Writer) ([]string, error) {
	compiled := make([]string, len(units))
	var printing sync.Mutex
	err := parallel.Try(ctx, runtime.GOMAXPROCS(0), len(units), func(_ context.Context, _, i int) error {
		u := units[i]
		ptx, warnings, err := compile(u.source, u.text, headers, u.options())
		if err != nil {
			return fmt.Errorf("compiling %s from %s: %w", u.output(), u.source, err)
		}
		if release := "V" + wheels[0].version; !strings.Contains(ptx, release) {
			return fmt.Errorf("compiling %s from %s: the PTX is not from the compiler %s, whose PTX is committed; leave --toolchain out", u.output(), u.source, release)
		}
		if warnings != "" {
			printing.Lock()
			defer printing.Unlock()
			fmt.Fprintf(diagnostics, "compiling %s:\n%s\n", u.output(), strings.TrimSpace(warnings))
		}
		compiled[i] = annotate(u, ptx)
		return nil
	})
	return compiled, err
}

// annotate returns PTX below Go's line for generated files and the options that it was compiled with. The compiler's
// version follows in the comment that NVRTC itself writes.
func annotate(u unit, ptx string) string {
	head := fmt.Sprintf("// Code generated by infra/ptx from %s. DO NOT EDIT.\n//\n// nvrtc %s\n", u.source, strings.Join(u.options(), " "))
	return head + strings.TrimRight(ptx, "\n") + "\n"
}
