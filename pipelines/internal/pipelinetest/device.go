package pipelinetest

import (
	"fmt"
	"sync"
	"testing"

	"tagnet/model/device"
	"tagnet/model/device/interpreter"
	"tagnet/stages/accelerator"
)

// noDriver is the driver of a machine without one.
func noDriver(int) (device.Device, error) {
	return nil, fmt.Errorf("%w; install NVIDIA's driver or use --device cpu", device.ErrNoDriver)
}

// hideDevices lets the tests compute on the CPU also on machines with a device, so that their results are the same.
var hideDevices = sync.OnceFunc(func() { accelerator.Register(noDriver) })

// Interpret makes the interpreter of PTX the machine's only device, cuda:0, until the test ends. The test must not run in
// parallel with others.
func Interpret(t testing.TB) {
	UseDriver(t, func(ordinal int) (device.Device, error) {
		if ordinal != 0 {
			return nil, fmt.Errorf("opening CUDA device %d: %w; use --device cuda:0", ordinal, device.ErrNoDevice)
		}
		return interpreter.New(), nil
	})
}

// UseDriver makes the devices of a driver those of the machine until the test ends. The test must not run in parallel with
// others.
func UseDriver(t testing.TB, driver accelerator.Driver) {
	hideDevices()
	t.Cleanup(func() { accelerator.Register(noDriver) })
	accelerator.Register(driver)
}
