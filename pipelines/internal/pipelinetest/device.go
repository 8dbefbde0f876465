package pipelinetest

import (
	"slices"
	"sync"
	"testing"

	"tagnet/formats/remedy"
	"tagnet/model/accelerator"
	"tagnet/model/engine/device"
	"tagnet/model/engine/kernel"
	"tagnet/model/gpu"
	"tagnet/model/learn/learntest"
)

// noDriver is the driver of a machine without one.
func noDriver(int) (device.Device, error) {
	return nil, remedy.Errorf(remedy.Do("install NVIDIA's driver or %v", device.UseCPU), "%w", device.ErrNoDriver)
}

// hideDevices lets the tests compute on the CPU also on machines with a device, so that their results are the same.
var hideDevices = sync.OnceFunc(func() { accelerator.Register(gpu.Driver(noDriver)) })

// UseDevices gives the machine a number of imaginary devices until the test ends, cuda:0 and so on. They compute what
// the CPU does with the default kernel, and record what they do. The test must not run in parallel with others.
func UseDevices(t testing.TB, devices int) learntest.Machine {
	t.Helper()
	hideDevices()
	k, err := kernel.Named("")
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.NewMachine(devices, k)
	t.Cleanup(func() { accelerator.Register(gpu.Driver(noDriver)) })
	accelerator.Register(m)
	return m
}

// Fault is how a device fails: with an error of an operation, after a number of them since it was opened.
type Fault struct {
	Operations []string // see learntest.Devices
	After      int
	Err        error
}

// Faults returns the ways in which a device fails, with errors as package cuda words them. It is lost after a number of
// steps, or of scorings.
func Faults(steps int) map[string]Fault {
	old := remedy.Do("CUDA 12.4 (driver 550) or later is needed; update NVIDIA's driver or %v", device.UseCPU)
	full := remedy.Do("end other processes on the GPU or %v", device.UseCPU)
	const lost = "launching update on CUDA device 0: %w: CUDA_ERROR_ILLEGAL_ADDRESS (700), by this or earlier work"
	open, made, computed := []string{"open"}, []string{"trainer", "scorer"}, []string{"step", "score"}
	fails := func(operations []string, after int, remedied remedy.Help, format string, wrapped error) Fault {
		return Fault{operations, after, remedy.Errorf(remedied, format, wrapped)}
	}
	return map[string]Fault{
		"no driver": fails(open, 0, remedy.Do("install NVIDIA's driver or %v", device.UseCPU), "opening CUDA device 0: %w: libcuda.so.1 is not found",
			device.ErrNoDriver),
		"no device":       fails(open, 0, device.UseCPU, "opening CUDA device 0: %w: the driver finds no GPU", device.ErrNoDevice),
		"driver too old":  fails(made, 0, old, "loading kernels on CUDA device 0: %w: it is for CUDA 12.2", device.ErrOldDriver),
		"kernels refused": fails(made, 0, device.UseCPU, "loading kernels on CUDA device 0 (GPU): %w: line 3", device.ErrRefused),
		"no memory":       fails(made, 0, full, "allocating on CUDA device 0: %w: 3.0 GiB wanted, 2.0 GiB free", device.ErrMemory),
		"lost":            fails(computed, steps, remedy.Do("run the command again or %v", device.UseCPU), lost, device.ErrLost),
	}
}

// UseFaulty makes a device that fails the machine's only one until the test ends. The test must not run in
// parallel with others.
func UseFaulty(t testing.TB, f Fault) {
	t.Helper()
	calls := 0
	UseDevices(t, 1)[0].Fail = func(operation string) error {
		if operation == "open" {
			calls = 0
		}
		if !slices.Contains(f.Operations, operation) {
			return nil
		}
		if calls++; calls > f.After {
			return f.Err
		}
		return nil
	}
}
