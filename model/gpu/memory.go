package gpu

import "tagnet/model/engine/device"

// memory tracks the memory that an engine holds on its device. After its first error every method does nothing.
type memory struct {
	device device.Device
	held   []device.Pointer
	bytes  int64 // that were ever allocated
	err    error
}

// allocate returns uninitialized memory, of at least 4 bytes.
func (m *memory) allocate(bytes int64) device.Pointer {
	if m.err != nil {
		return 0
	}
	p, err := m.device.Allocate(max(bytes, 4))
	if err != nil {
		m.err = err
		return 0
	}
	m.held, m.bytes = append(m.held, p), m.bytes+max(bytes, 4)
	return p
}

func (m *memory) copyIn(to device.Pointer, from []byte) {
	if m.err == nil && len(from) > 0 {
		m.err = m.device.CopyIn(to, from)
	}
}

func (m *memory) copyOut(to []byte, from device.Pointer) {
	if m.err == nil && len(to) > 0 {
		m.err = m.device.CopyOut(to, from)
	}
}

func (m *memory) clear(at device.Pointer, bytes int64) {
	if m.err == nil && bytes > 0 {
		m.err = m.device.Clear(at, bytes)
	}
}

// use sets the stream of later work, after an error too: the device may have other users.
func (m *memory) use(stream int) {
	if err := m.device.Use(stream); m.err == nil {
		m.err = err
	}
}

// mark returns a mark behind the stream's work so far.
func (m *memory) mark() (at device.Mark) {
	if m.err == nil {
		at, m.err = m.device.Mark()
	}
	return at
}

// wait makes the stream's later work wait for a mark.
func (m *memory) wait(behind device.Mark) {
	if m.err == nil {
		m.err = m.device.Wait(behind)
	}
}

// synchronize waits for the stream's work.
func (m *memory) synchronize() {
	if m.err == nil {
		m.err = m.device.Synchronize()
	}
}

// place allocates memory with the given content.
func place[T any](m *memory, values []T) device.Pointer {
	content := device.Bytes(values)
	p := m.allocate(int64(len(content)))
	m.copyIn(p, content)
	return p
}

// release gives back all but the first n allocations, and returns the first error so far.
func (m *memory) release(n int) error {
	var first error
	for _, p := range m.held[n:] {
		if err := m.device.Free(p); err != nil && first == nil {
			first = err
		}
	}
	m.held = m.held[:n]
	if m.err == nil {
		m.err = first
	}
	return m.err
}

// free gives everything back, and returns an error of that alone.
func (m *memory) free() error {
	before := m.err
	m.err = nil
	err := m.release(0)
	if before != nil {
		m.err = before
	}
	return err
}
