//go:build !linux || (!amd64 && !arm64) || nocuda

package cuda

import (
	"fmt"
	"runtime"

	"tagnet/formats/remedy"
	"tagnet/model/engine/device"
)

// Open returns an error that wraps device.ErrNoDriver: CUDA needs Linux, and a program that is built with it.
func Open(ordinal int) (device.Device, error) {
	return nil, fmt.Errorf("opening CUDA device %d: %w", ordinal,
		remedy.Errorf(device.UseCPU, "%w: CUDA needs Linux on amd64 or arm64, and a program built without the tag nocuda; this one is for %s on %s",
			device.ErrNoDriver, runtime.GOOS, runtime.GOARCH))
}
