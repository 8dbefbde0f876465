//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"fmt"
	"unsafe"

	"tagnet/formats/remedy"
	"tagnet/model/engine/device"
)

// update is the remedy for a driver that is too old.
var update = remedy.Do("CUDA 12.4 (driver 550) or later is needed; update NVIDIA's driver or %v", device.UseCPU)

// result is a CUresult.
type result int32

// The results that need more than their name in an error.
const (
	success               result = 0
	outOfMemory           result = 2
	deinitialized         result = 4
	stubLibrary           result = 34
	deviceUnavailable     result = 46
	noDevice              result = 100
	invalidContext        result = 201
	uncorrectableECC      result = 214
	invalidPTX            result = 218
	uncorrectableNVLink   result = 220
	unsupportedPTXVersion result = 222
	notFound              result = 500
	illegalAddress        result = 700
	launchTimeout         result = 702
	contextIsDestroyed    result = 709
	assertion             result = 710
	hardwareStackError    result = 714
	illegalInstruction    result = 715
	misalignedAddress     result = 716
	invalidAddressSpace   result = 717
	invalidProgramCounter result = 718
	launchFailed          result = 719
	unknown               result = 999
)

// lost reports whether a result means that the context and its memory are gone. The driver returns most of these
// from every later call too.
func (r result) lost() bool {
	switch r {
	case deinitialized, deviceUnavailable, invalidContext, uncorrectableECC, uncorrectableNVLink, illegalAddress, launchTimeout,
		contextIsDestroyed, assertion, hardwareStackError, illegalInstruction, misalignedAddress, invalidAddressSpace,
		invalidProgramCounter, launchFailed, unknown:
		return true
	}
	return false
}

// fail returns the error of a call that did not succeed; action says what the call was for, such as "copying to".
// Once the device is lost it keeps the error for all later calls.
func (g *gpu) fail(action string, r result) error {
	switch {
	case r.lost():
		g.lost = remedy.Errorf(remedy.Do("run the command again or %v", device.UseCPU), "%s CUDA device %d: %w: %s, by this or earlier work",
			action, g.properties.Ordinal, device.ErrLost, g.driver.describe(r))
		return g.lost
	case r == outOfMemory:
		return remedy.Errorf(remedy.Do("end other processes on the GPU or %v", device.UseCPU),
			"%s CUDA device %d: %w: %s free", action, g.properties.Ordinal, device.ErrMemory, size(g.freeMemory()))
	}
	return fmt.Errorf("%s CUDA device %d: the driver returned %s", action, g.properties.Ordinal, g.driver.describe(r))
}

// freeMemory returns the free memory of the device in bytes, 0 if it is not known.
func (g *gpu) freeMemory() int64 {
	var free, total uintptr
	if g.call(g.driver.memoryInfo, uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total))) != success {
		return 0
	}
	return int64(free)
}

// size formats a number of bytes.
func size(bytes int64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", bytes)
}
