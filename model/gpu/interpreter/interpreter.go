package interpreter

import (
	"fmt"
	"runtime"
	"sync"

	"tagnet/model/engine/device"
)

// Device runs PTX. It implements device.Device; Launch returns when the kernel has run.
type Device struct {
	seed     uint64
	workers  int
	memory   *memory
	kernels  []*kernel
	launches uint64
	marks    []past // what comes before each
	schedule schedule
}

var _ device.Device = (*Device)(nil)

// Option configures a device.
type Option func(*Device)

// Seed sets what the order of blocks is derived from.
func Seed(seed uint64) Option { return func(d *Device) { d.seed = seed } }

// Memory sets the size of the memory in bytes. Allocate returns device.ErrMemory beyond it.
func Memory(bytes int64) Option { return func(d *Device) { d.memory.limit = bytes } }

// Workers sets the number of goroutines that run blocks. It is GOMAXPROCS otherwise.
func Workers(n int) Option { return func(d *Device) { d.workers = n } }

// New returns a device with 16 GiB of memory, none of which is reserved before it is allocated.
func New(options ...Option) *Device {
	d := &Device{workers: runtime.GOMAXPROCS(0), memory: &memory{limit: 16 << 30}}
	for _, o := range options {
		o(d)
	}
	return d
}

// Properties describes the interpreter.
func (d *Device) Properties() device.Properties {
	return device.Properties{Name: "PTX interpreter", Memory: d.memory.limit, Free: d.memory.limit - d.memory.used, Processors: d.workers}
}

// Load compiles PTX. An error wraps device.ErrRefused and names the line.
func (d *Device) Load(ptx string, names ...string) ([]device.Kernel, error) {
	kernels, err := compile(ptx)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", device.ErrRefused, err)
	}
	loaded := make([]device.Kernel, len(names))
	for i, name := range names {
		k, ok := kernels[name]
		if !ok {
			return nil, fmt.Errorf("%w: no kernel %s", device.ErrRefused, name)
		}
		own := *k // with workers of its own
		d.kernels = append(d.kernels, &own)
		loaded[i] = device.Kernel(len(d.kernels))
	}
	return loaded, nil
}

// compiled has the kernels of modules by their PTX: tests load the same ones into many devices.
var compiled sync.Map

// compile returns the kernels of a module by name, which have not been launched.
func compile(ptx string) (map[string]*kernel, error) {
	if kernels, ok := compiled.Load(ptx); ok {
		return kernels.(map[string]*kernel), nil
	}
	p := parser{kernels: map[string]*kernel{}}
	if err := p.parse(ptx); err != nil {
		return nil, err
	}
	compiled.Store(ptx, p.kernels)
	return p.kernels, nil
}

// Allocate returns memory that nothing has written.
func (d *Device) Allocate(bytes int64) (device.Pointer, error) {
	p, err := d.memory.allocate(bytes)
	return device.Pointer(p), err
}

// Free returns memory. Kernels that touch it from now on fail.
func (d *Device) Free(p device.Pointer) error { return d.memory.free(uint64(p)) }

// CopyIn copies bytes to the device.
func (d *Device) CopyIn(to device.Pointer, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	b, i, err := d.use(to, len(from), writes)
	if err != nil {
		return err
	}
	d.schedule.wait()
	copy(b.data[i:], from)
	b.mark(i, len(from))
	return nil
}

// CopyOut copies bytes from the device. Those that nothing wrote are an error.
func (d *Device) CopyOut(to []byte, from device.Pointer) error {
	if len(to) == 0 {
		return d.Synchronize()
	}
	b, i, err := d.use(from, len(to), reads)
	if err != nil {
		return err
	}
	d.schedule.wait()
	for j, written := range b.written[i : i+len(to)] {
		if written == 0 {
			return fmt.Errorf("copying from %#x: nothing wrote byte %d of %d", uint64(from), j, len(to))
		}
	}
	copy(to, b.data[i:])
	return nil
}

// use returns the buffer that holds a range of bytes, and their offset in it, for an operation that is no launch.
func (d *Device) use(p device.Pointer, bytes int, how use) (*buffer, int, error) {
	b, i, err := d.memory.find(uint64(p), bytes)
	if err != nil {
		return nil, 0, err
	}
	if wrong := b.users.note(d.schedule.next(), how); wrong != "" {
		return nil, 0, fmt.Errorf("%d bytes at %#x: buffer %d %s", bytes, uint64(p), p>>spacing, wrong)
	}
	return b, i, nil
}

// Clear sets bytes to 0.
func (d *Device) Clear(at device.Pointer, bytes int64) error {
	if bytes == 0 {
		return nil
	}
	b, i, err := d.use(at, int(bytes), writes)
	if err != nil {
		return err
	}
	clear(b.data[i : i+int(bytes)])
	b.mark(i, int(bytes))
	return nil
}

// Synchronize notes that the host waits for the stream; Launch has waited.
func (d *Device) Synchronize() error {
	d.schedule.wait()
	return nil
}

// Use makes a stream, 0 or 1, the current one.
func (d *Device) Use(stream int) error {
	if stream < 0 || stream >= streams {
		return fmt.Errorf("no stream %d", stream)
	}
	d.schedule.stream = stream
	return nil
}

// Mark returns a mark behind the work of the stream.
func (d *Device) Mark() (device.Mark, error) {
	d.marks = append(d.marks, d.schedule.known[d.schedule.stream])
	return device.Mark(len(d.marks)), nil
}

// Wait makes later work of the stream come after a mark.
func (d *Device) Wait(m device.Mark) error {
	if m == 0 || m > device.Mark(len(d.marks)) {
		return fmt.Errorf("no mark %d", m)
	}
	d.schedule.known[d.schedule.stream].join(d.marks[m-1])
	return nil
}

// Close drops all memory and kernels.
func (d *Device) Close() error {
	d.memory = &memory{limit: d.memory.limit}
	d.kernels, d.marks = nil, nil
	return nil
}
