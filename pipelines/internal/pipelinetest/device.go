package pipelinetest

import (
	"fmt"
	"sync"
	"testing"

	"tagnet/formats/remedy"
	"tagnet/model/accelerator"
	"tagnet/model/engine/device"
	"tagnet/model/gpu"
	"tagnet/model/gpu/interpreter"
)

// noDriver is the driver of a machine without one.
func noDriver(int) (device.Device, error) {
	return nil, remedy.Errorf("install NVIDIA's driver or use --device cpu", "%w", device.ErrNoDriver)
}

// hideDevices lets the tests compute on the CPU also on machines with a device, so that their results are the same.
var hideDevices = sync.OnceFunc(func() { accelerator.Register(gpu.Driver(noDriver)) })

// Interpret makes the interpreter of PTX the machine's only device, cuda:0, until the test ends. The test must not run in
// parallel with others.
func Interpret(t testing.TB) { InterpretAs(t, 1) }

// InterpretAs gives the machine a number of devices, which are interpreters.
func InterpretAs(t testing.TB, devices int) {
	UseDriver(t, func(ordinal int) (device.Device, error) {
		if ordinal >= devices {
			return nil, fmt.Errorf("opening CUDA device %d: %w; use --device cuda:0", ordinal, device.ErrRange)
		}
		return interpreter.New(), nil
	})
}

// UseDriver gives the machine the devices of a driver until the test ends. The test must not run in parallel with
// others.
func UseDriver(t testing.TB, driver gpu.Driver) {
	hideDevices()
	t.Cleanup(func() { accelerator.Register(gpu.Driver(noDriver)) })
	accelerator.Register(driver)
}

// Fault is how a device fails: with the error of Open, or of an operation, which is load, allocate or launch, after a number of
// calls that succeed.
type Fault struct {
	Open      error
	Operation string
	After     int
	Err       error
}

// Faults returns the ways in which a device fails, with errors as package cuda words them; launches is the number of launches
// before it is lost.
func Faults(launches int) map[string]Fault {
	const old = "CUDA 12.4 (driver 550) or later is needed; update NVIDIA's driver or use --device cpu"
	const full = "end other processes on the GPU or use --device cpu"
	return map[string]Fault{
		"no driver":       {Open: remedy.Errorf("install NVIDIA's driver or use --device cpu", "opening CUDA device 0: %w: libcuda.so.1 is not found", device.ErrNoDriver)},
		"no device":       {Open: remedy.Errorf("use --device cpu", "opening CUDA device 0: %w: the driver finds no GPU", device.ErrNoDevice)},
		"driver too old":  {Operation: "load", Err: remedy.Errorf(old, "loading kernels on CUDA device 0: %w: it is for CUDA 12.2", device.ErrOldDriver)},
		"kernels refused": {Operation: "load", Err: remedy.Errorf("use --device cpu", "loading kernels on CUDA device 0 (GPU): %w: line 3", device.ErrRefused)},
		"no memory":       {Operation: "allocate", Err: remedy.Errorf(full, "allocating on CUDA device 0: %w: 3.0 GiB wanted, 2.0 GiB free", device.ErrMemory)},
		"lost":            {Operation: "launch", After: launches, Err: remedy.Errorf("run the command again or use --device cpu", "launching update on CUDA device 0: %w: CUDA_ERROR_ILLEGAL_ADDRESS (700), by this or earlier work", device.ErrLost)},
	}
}

// UseFaulty makes a device that fails the machine's only one until the test ends. The test must not run in parallel with others.
func UseFaulty(t testing.TB, f Fault) {
	UseDriver(t, func(int) (device.Device, error) {
		if f.Open != nil {
			return nil, f.Open
		}
		return &faulty{Device: interpreter.New(), Fault: f}, nil
	})
}

// faulty is the interpreter with a fault.
type faulty struct {
	device.Device
	Fault
	calls int
}

// fails returns the error of an operation, nil where it succeeds.
func (f *faulty) fails(operation string) error {
	if operation != f.Operation {
		return nil
	}
	if f.calls++; f.calls > f.After {
		return f.Err
	}
	return nil
}

func (f *faulty) Load(ptx string, names ...string) ([]device.Kernel, error) {
	if err := f.fails("load"); err != nil {
		return nil, err
	}
	return f.Device.Load(ptx, names...)
}

func (f *faulty) Allocate(bytes int64) (device.Pointer, error) {
	if err := f.fails("allocate"); err != nil {
		return 0, err
	}
	return f.Device.Allocate(bytes)
}

func (f *faulty) Launch(k device.Kernel, blocks, threads int, arguments ...any) error {
	if err := f.fails("launch"); err != nil {
		return err
	}
	return f.Device.Launch(k, blocks, threads, arguments...)
}
