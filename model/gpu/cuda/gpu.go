//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"bytes"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"tagnet/formats/remedy"
	"tagnet/model/engine/device"
)

// multiprocessorCount is an attribute of a device (CUdevice_attribute).
const multiprocessorCount = 16

// nonBlocking makes a stream that does not wait for the default stream.
const nonBlocking = 1

// gpu is an NVIDIA GPU with two streams. Its methods may be called from any goroutine, one at a time.
type gpu struct {
	driver        *driver
	driverVersion int32
	properties    device.Properties
	id            int32
	context       []uintptr // the context, or empty; a slice, so that calls need not allocate one
	streams       [2]uintptr
	stream        uintptr // the current one
	// page is the memory of parameters, which the driver reads: outside Go's heap, so it never moves.
	page       []byte
	parameters *parameters
	launch     [11]uintptr // the arguments of cuLaunchKernel
	modules    []uintptr
	loaded     map[string][]device.Kernel // by PTX and names: compiling takes seconds, and each epoch of a training loads again
	kernels    []kernel
	memory     map[device.Pointer]int64 // bytes of each allocation
	events     []uintptr                // of marks, as a ring
	marked     uint64                   // number of marks
	lost       error
	closed     bool
}

// Open opens the CUDA device with a number, from 0. The error wraps device.ErrNoDriver, ErrOldDriver,
// ErrNoDevice or ErrMemory.
func Open(ordinal int) (device.Device, error) {
	g, err := open(driverLibrary, ordinal)
	if err != nil {
		return nil, err
	}
	return g, nil
}

// open opens a device with the driver's library at a path. The error is device.ErrNoDriver, ErrNoDevice, ErrRange or
// another of package device.
func open(library string, ordinal int) (*gpu, error) {
	fail := func(err error) (*gpu, error) {
		return nil, fmt.Errorf("opening CUDA device %d: %w", ordinal, err)
	}
	d, err := openDriver(library)
	if err != nil {
		return fail(err)
	}
	n, err := d.start()
	switch {
	case err != nil:
		return fail(err)
	case n == 0:
		return fail(remedy.Errorf(device.UseCPU, "%w: the driver finds no GPU", device.ErrNoDevice))
	case ordinal < 0 || ordinal >= n:
		return fail(remedy.Errorf(remedy.Do("use %v", remedy.Flag("device", "cuda:0")), "%w, this machine has %d, numbered from 0", device.ErrRange, n))
	}
	g := &gpu{driver: d, driverVersion: d.driverVersion(), memory: map[device.Pointer]int64{}, loaded: map[string][]device.Kernel{}}
	if err := g.start(ordinal); err != nil {
		g.release()
		return fail(err)
	}
	return g, nil
}

// start makes the context and the stream and reads the properties.
func (g *gpu) start(ordinal int) error {
	d := g.driver
	// Other processes may hold the device, or its memory; the user can wait for them.
	refused := func(r result) error {
		switch r {
		case deviceUnavailable:
			return remedy.Errorf(remedy.Do("wait for that to end or %v", device.UseCPU), "%w: it is in use by another process", device.ErrNoDevice)
		case outOfMemory:
			return remedy.Errorf(remedy.Do("wait for them to end or %v", device.UseCPU), "%w: other processes have taken it", device.ErrMemory)
		}
		return remedy.Errorf(device.UseCPU, "%w: the driver returned %s", device.ErrNoDevice, d.describe(r))
	}
	if r := call(d.get, uintptr(unsafe.Pointer(&g.id)), uintptr(ordinal)); r != success {
		return refused(r)
	}
	var context uintptr
	if r := call(d.retain, uintptr(unsafe.Pointer(&context)), uintptr(g.id)); r != success {
		return refused(r)
	}
	g.context = []uintptr{context}
	// Two streams: copies and kernels overlap.
	for i := range g.streams {
		var stream uintptr
		if r := g.call(d.streamCreate, uintptr(unsafe.Pointer(&stream)), nonBlocking); r != success {
			return refused(r)
		}
		g.streams[i] = stream
	}
	// The driver reads a launch's parameters from a page that the garbage collector does not move.
	var err error
	if g.page, err = syscall.Mmap(-1, 0, int(unsafe.Sizeof(parameters{})), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE); err != nil {
		return fmt.Errorf("%w: no memory for kernel parameters: %w", device.ErrMemory, err)
	}
	g.parameters = (*parameters)(unsafe.Pointer(&g.page[0]))
	g.parameters.initialize()
	g.stream = g.streams[0]
	g.launch = [11]uintptr{gridY: 1, gridZ: 1, blockY: 1, blockZ: 1, launchStream: g.stream, launchParameters: uintptr(unsafe.Pointer(&g.parameters.addresses))}
	g.properties = g.readProperties(ordinal)
	return nil
}

// readProperties returns the device's properties. Fields that the driver does not tell stay zero:
// they are for messages.
func (g *gpu) readProperties(ordinal int) device.Properties {
	p := device.Properties{
		Ordinal:    ordinal,
		Driver:     fmt.Sprintf("%d.%d", g.driverVersion/1000, g.driverVersion%1000/10),
		Processors: g.attribute(multiprocessorCount),
	}
	name := make([]byte, 256)
	if call(g.driver.name, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(g.id)) == success {
		name, _, _ = bytes.Cut(name, []byte{0})
		p.Name = string(name)
	}
	var total uintptr
	if call(g.driver.totalMemory, uintptr(unsafe.Pointer(&total)), uintptr(g.id)) == success {
		p.Memory = int64(total)
	}
	return p
}

// attribute returns an attribute of the device, 0 if the driver does not know it.
func (g *gpu) attribute(which uintptr) int {
	var v int32
	if call(g.driver.attribute, uintptr(unsafe.Pointer(&v)), which, uintptr(g.id)) != success {
		return 0
	}
	return int(v)
}

// call calls a function of the driver in the device's context. A context is current on a thread of the operating
// system, and goroutines change threads, so each call makes it current first, without leaving the thread in between.
// With a library whose functions return at once that adds 0.1 microseconds to a launch, 0.3 in all; passing the call
// over a channel to a goroutine with a thread of its own adds 25 (BenchmarkLaunch, two cores).
//
//go:uintptrescapes
func (g *gpu) call(function uintptr, arguments ...uintptr) result {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r := call(g.driver.setCurrent, g.context...); r != success {
		return r
	}
	return call(function, arguments...)
}

// usable returns the error of a device that is lost or closed.
func (g *gpu) usable() error {
	switch {
	case g.lost != nil:
		return g.lost // also once it is closed: what others have on it is lost, too
	case g.closed:
		return fmt.Errorf("CUDA device %d is closed", g.properties.Ordinal)
	}
	return nil
}

// Properties describes the GPU. It asks the driver how much memory is free now.
func (g *gpu) Properties() device.Properties {
	p := g.properties
	if g.usable() == nil {
		p.Free = g.freeMemory()
	}
	return p
}

// Use makes a stream the current one.
func (g *gpu) Use(stream int) error {
	if err := g.usable(); err != nil {
		return err
	}
	if stream < 0 || stream >= len(g.streams) {
		return fmt.Errorf("CUDA device %d has no stream %d", g.properties.Ordinal, stream)
	}
	g.stream = g.streams[stream]
	g.launch[launchStream] = g.stream
	return nil
}

// Synchronize waits for all earlier work of the stream.
func (g *gpu) Synchronize() error {
	if err := g.usable(); err != nil {
		return err
	}
	return g.wait("waiting for")
}

// wait waits for the current stream.
func (g *gpu) wait(action string) error {
	if r := g.call(g.driver.streamSynchronize, g.stream); r != success {
		return g.fail(action, r)
	}
	return nil
}

func (g *gpu) waitAll(action string) error {
	for _, stream := range g.streams {
		if r := g.call(g.driver.streamSynchronize, stream); r != success {
			return g.fail(action, r)
		}
	}
	return nil
}

// Close waits for all earlier work, returns its error if it has one, and gives back memory, kernels, marks, the
// streams and the context. Closing a closed device does nothing, and closing a lost one returns no error.
func (g *gpu) Close() error {
	if g.closed {
		return nil
	}
	var err error
	if g.lost == nil {
		err = g.waitAll("closing")
	}
	if e := g.release(); err == nil {
		err = e
	}
	g.closed = true
	return err
}

// release gives back what the device holds and returns the first error of that. On a lost device the driver refuses
// all but the release of the context, which frees the rest.
func (g *gpu) release() error {
	var first error
	check := func(r result) {
		if r != success && first == nil {
			first = g.fail("closing", r)
		}
	}
	d := g.driver
	// The context goes last, after what was made in it.
	if g.lost == nil {
		for p := range g.memory {
			check(g.call(d.free, uintptr(p)))
		}
		for _, e := range g.events {
			check(g.call(d.eventDestroy, e))
		}
		for _, m := range g.modules {
			check(g.call(d.moduleUnload, m))
		}
		for _, stream := range g.streams {
			if stream != 0 {
				check(g.call(d.streamDestroy, stream))
			}
		}
	}
	// On a lost device this frees the rest, and its error says nothing new.
	if g.context != nil {
		if r := call(d.release, uintptr(g.id)); g.lost == nil {
			check(r)
		}
	}
	if g.page != nil {
		if err := syscall.Munmap(g.page); first == nil {
			first = err
		}
	}
	g.memory, g.events, g.modules, g.loaded, g.kernels, g.streams, g.context, g.page, g.parameters = nil, nil, nil, nil, nil, [2]uintptr{}, nil, nil, nil
	return first
}
