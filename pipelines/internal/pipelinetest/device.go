package pipelinetest

import (
	"sync"
	"testing"

	"tagnet/model/device"
	"tagnet/model/device/interpreter"
	"tagnet/stages/accelerator"
	"tagnet/stages/accelerator/cuda"
)

// hideDevices lets the tests compute on the CPU also on machines with a device, so that their results are the same.
var hideDevices = sync.OnceFunc(func() { accelerator.Register(accelerator.None{}) })

// Interpret makes the interpreter of PTX the machine's only device, cuda:0, until the test ends. The test must not run in
// parallel with others.
func Interpret(t testing.TB) {
	hideDevices()
	t.Cleanup(func() { accelerator.Register(accelerator.None{}) })
	accelerator.Register(cuda.Devices{Driver: func(ordinal int) (device.Device, error) {
		if ordinal != 0 {
			return nil, device.ErrNoDevice
		}
		return interpreter.New(), nil
	}})
}
