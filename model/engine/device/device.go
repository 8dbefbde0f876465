package device

import "unsafe"

// Pointer is an address in a device's memory.
type Pointer uint64

// Offset returns the address a number of bytes behind p.
func (p Pointer) Offset(bytes int64) Pointer { return p + Pointer(bytes) }

// Kernel is a loaded kernel. Its value means something to its device alone.
type Kernel uint64

// Device runs kernels one after another, in the order of their launches; copies keep their place in that order. Except
// where a method says otherwise it may return before the work is done, and an error of earlier work may be returned by
// any later call. A device is for one goroutine at a time.
//
// That order holds within a stream, of which there are two: work belongs to stream 0, or to the one that Use named
// last. Work of one does not wait for work of the other, unless by Wait, or because the host has waited for it before.
//
// Errors wrap errors of this package; after ErrLost nothing but Close works.
type Device interface {
	// Properties describes the device.
	Properties() Properties
	// Load compiles PTX and returns the kernels with the given names, in their order. A PTX that the device cannot
	// compile is ErrRefused.
	Load(ptx string, names ...string) ([]Kernel, error)
	// Allocate returns uninitialized memory, aligned to 256 bytes. The error wraps ErrMemory where not enough is left.
	Allocate(bytes int64) (Pointer, error)
	// Free waits for the work of all streams and returns memory that Allocate gave.
	Free(p Pointer) error
	// CopyIn waits for all earlier work of the stream and copies bytes to the device. They may be
	// changed once it returns.
	CopyIn(to Pointer, from []byte) error
	// CopyOut waits for all earlier work of the stream and copies bytes from the device.
	CopyOut(to []byte, from Pointer) error
	// Clear sets bytes to 0.
	Clear(at Pointer, bytes int64) error
	// Launch starts a kernel with a number of blocks of a number of threads each. Arguments are int32, uint32, uint64,
	// float32 or Pointer, as the kernel declares them.
	Launch(k Kernel, blocks, threads int, arguments ...any) error
	// Synchronize waits for all earlier work of the stream.
	Synchronize() error
	// Use makes a stream, 0 or 1, the one that work belongs to from now on.
	Use(stream int) error
	// Wait makes later work of the stream wait for a mark of another.
	Wait(m Mark) error
	// Mark returns a mark in the order of the stream's work.
	Mark() (Mark, error)
	// Close gives back everything that the device holds.
	Close() error
}

// Mark is a place in the order of a stream's work.
type Mark uint64

// Properties describe a device.
type Properties struct {
	// Name is the maker's, such as "NVIDIA H100 80GB HBM3".
	Name string
	// Ordinal is the number in cuda:n.
	Ordinal int
	// Driver is the version of the driver, as in 12.4; empty for the interpreter.
	Driver string
	// Memory is the size of the memory in bytes, Free what is left of it at the moment.
	Memory, Free int64
	// Processors is the number of multiprocessors. No result depends on it.
	Processors int
}

// Bytes returns the memory of values without pointers.
func Bytes[T any](values []T) []byte {
	if len(values) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), len(values)*int(unsafe.Sizeof(values[0])))
}
