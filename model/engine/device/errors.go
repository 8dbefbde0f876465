package device

import (
	"errors"
	"fmt"

	"tagnet/formats/remedy"
)

// UseCPU helps where a device cannot.
var UseCPU = remedy.Do("use %v", remedy.Flag("device", "cpu"))

// What can be wrong with a device. An error that wraps one of them names the device or library and the remedy.
var (
	// ErrNoDriver: the driver's library is not on this machine.
	ErrNoDriver = errors.New("no CUDA driver")
	// ErrOldDriver: the driver is older than the kernels' PTX or lacks a function.
	ErrOldDriver = errors.New("the CUDA driver is too old")
	// ErrNoDevice: there is no device with the number.
	ErrNoDevice = errors.New("no CUDA device")
	// ErrRange means that no device has the given number, nor a larger one.
	ErrRange = fmt.Errorf("%w: out of range", ErrNoDevice)
	// ErrRefused: the driver did not compile the kernels.
	ErrRefused = errors.New("the driver refused the kernels")
	// ErrMemory: the device's memory is full.
	ErrMemory = errors.New("out of device memory")
	// ErrLost: the device failed, and everything in its memory is lost.
	ErrLost = errors.New("the device was lost")
)
