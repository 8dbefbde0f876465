// Command ptx compiles the CUDA C kernels of model/gpu/kernels to PTX, which is committed beside them, and
// reports the registers, shared memory and local memory that each kernel takes on sm_80 and sm_90. It needs no graphics
// card: NVRTC compiles, and ptxas, which prints the resources, assembles without one. Both come from NVIDIA's Python
// wheels, which the first run downloads with pip.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"tagnet/infra/internal/program"
)

func main() { os.Exit(program.Run("ptx", "interrupted", run)) }

// options are the flags.
type options struct {
	kernels, toolchain string
	check, local       bool
}

func parse(arguments []string, diagnostics io.Writer) (options, error) {
	var o options
	set := flag.NewFlagSet("ptx", flag.ContinueOnError)
	set.StringVar(&o.kernels, "kernels", "model/gpu/kernels", "`folder` of the kernels' sources, which takes the PTX")
	set.BoolVar(&o.check, "check", false, "write nothing, and fail unless the PTX in the folder is what the sources compile to")
	set.BoolVar(&o.local, "local", false, "accept kernels that take local memory, such as those that test the interpreter")
	set.StringVar(&o.toolchain, "toolchain", "", "`folder` with cuda_nvrtc and cuda_nvcc of the wheels, instead of downloading them")
	return o, program.Parse(set, "Compiles the CUDA C kernels to PTX and reports the resources they take.", arguments, diagnostics)
}

func run(ctx context.Context, arguments []string, out, diagnostics io.Writer) error {
	o, err := parse(arguments, diagnostics)
	if err != nil {
		return err
	}
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return fmt.Errorf("NVIDIA's compiler runs on linux/amd64, not on %s/%s: run make ptx there", runtime.GOOS, runtime.GOARCH)
	}
	tools, err := locate(ctx, o.toolchain, diagnostics)
	if err != nil {
		return err
	}
	compiler, err := openNVRTC(tools.nvrtc)
	if err != nil {
		return err
	}
	return build(ctx, o, compiler.compile, tools.inspect, out, diagnostics)
}

// build compiles all kernels of a folder, writes or checks the PTX, and prints the resources that they take. A kernel that
// takes too much is an error, but does not keep the PTX from being written.
func build(ctx context.Context, o options, compile compileFunc, inspect inspectFunc, out, diagnostics io.Writer) error {
	begin := time.Now()
	units, headers, err := readSources(o.kernels)
	if err != nil {
		return err
	}
	compiled, err := compileAll(ctx, units, headers, compile, diagnostics)
	if err != nil {
		return err
	}
	resources, err := inspectAll(ctx, units, compiled, inspect)
	if err != nil {
		return err
	}
	printResources(out, resources)
	stale, err := compare(o.kernels, units, compiled)
	if err != nil {
		return err
	}
	problems := excesses(resources, o.local)
	if o.check {
		problems = append(problems, staleness(o.kernels, stale)...)
	} else if err := update(ctx, o.kernels, stale); err != nil {
		return err
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	verb := "compiled"
	if o.check {
		verb = "checked"
	}
	fmt.Fprintf(out, "%s %d PTX files of %s in %.1f s, %d changed\n", verb, len(units), o.kernels, time.Since(begin).Seconds(), len(stale))
	return nil
}
