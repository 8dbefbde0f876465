//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"fmt"
	"runtime"
	"unsafe"

	"tagnet/formats/remedy"
	"tagnet/model/engine/device"
)

// Allocate returns uninitialized memory. CUDA aligns it to 256 bytes or more. Of 0 bytes it allocates 1, so that each
// allocation has an address of its own.
func (g *gpu) Allocate(bytes int64) (device.Pointer, error) {
	if err := g.usable(); err != nil {
		return 0, err
	}
	if bytes < 0 {
		return 0, fmt.Errorf("allocating on CUDA device %d: %d bytes", g.properties.Ordinal, bytes)
	}
	var p uint64
	switch r := g.call(g.driver.allocate, uintptr(unsafe.Pointer(&p)), uintptr(max(bytes, 1))); r {
	case success:
	case outOfMemory:
		return 0, remedy.Errorf(remedy.Do("end other processes on the GPU or %v", device.UseCPU), "allocating on CUDA device %d: %w: %s wanted, %s free",
			g.properties.Ordinal, device.ErrMemory, size(bytes), size(g.freeMemory()))
	default:
		return 0, g.fail("allocating on", r)
	}
	g.memory[device.Pointer(p)] = bytes
	return device.Pointer(p), nil
}

// Free waits for the work of all streams, which may use the memory, and gives the memory back.
func (g *gpu) Free(p device.Pointer) error {
	if err := g.usable(); err != nil {
		return err
	}
	if _, found := g.memory[p]; !found {
		return fmt.Errorf("freeing memory of CUDA device %d: %#x is not an allocation", g.properties.Ordinal, uint64(p))
	}
	if err := g.waitAll("freeing memory of"); err != nil {
		return err
	}
	delete(g.memory, p)
	if r := g.call(g.driver.free, uintptr(p)); r != success {
		return g.fail("freeing memory of", r)
	}
	return nil
}

// CopyIn waits for all earlier work of the stream and copies bytes to the device. They may be changed once it
// returns: CUDA does not promise that the driver has read pageable memory, which Go's is, when an asynchronous
// copy of it returns.
func (g *gpu) CopyIn(to device.Pointer, from []byte) error {
	if err := g.usable(); err != nil || len(from) == 0 {
		return err
	}
	if r := g.call(g.driver.copyIn, uintptr(to), uintptr(unsafe.Pointer(&from[0])), uintptr(len(from)), g.stream); r != success {
		return g.fail("copying to", r)
	}
	err := g.wait("copying to")
	runtime.KeepAlive(from)
	return err
}

// CopyOut waits for all earlier work of the stream and copies bytes from the device.
func (g *gpu) CopyOut(to []byte, from device.Pointer) error {
	if err := g.usable(); err != nil {
		return err
	}
	if len(to) > 0 {
		if r := g.call(g.driver.copyOut, uintptr(unsafe.Pointer(&to[0])), uintptr(from), uintptr(len(to)), g.stream); r != success {
			return g.fail("copying from", r)
		}
	}
	err := g.wait("copying from")
	runtime.KeepAlive(to)
	return err
}

// Clear sets bytes to 0.
func (g *gpu) Clear(at device.Pointer, bytes int64) error {
	if err := g.usable(); err != nil || bytes == 0 {
		return err
	}
	if bytes < 0 {
		return fmt.Errorf("clearing memory of CUDA device %d: %d bytes", g.properties.Ordinal, bytes)
	}
	if r := g.call(g.driver.clear, uintptr(at), 0, uintptr(bytes), g.stream); r != success {
		return g.fail("clearing memory of", r)
	}
	return nil
}
