package interpreter

import (
	"fmt"
	"slices"

	"tagnet/model/device"
)

// Buffer returns the memory that Allocate gave at p, not a copy, and for each of its bytes 1 if something wrote it. It is for
// tests that compare whole buffers.
func (d *Device) Buffer(p device.Pointer) (data, written []byte, err error) {
	b, i, err := d.memory.find(uint64(p), 0)
	if err != nil {
		return nil, nil, err
	}
	if i != 0 {
		return nil, nil, fmt.Errorf("no buffer begins at %#x", uint64(p))
	}
	return b.data, b.written, nil
}

// Clone returns a device with the same kernels and a copy of the memory, at the same addresses. It is for tests that run a
// kernel without consequences.
func (d *Device) Clone() *Device {
	c := *d
	c.memory = &memory{limit: d.memory.limit, used: d.memory.used}
	for _, b := range d.memory.buffers {
		c.memory.buffers = append(c.memory.buffers, &buffer{data: slices.Clone(b.data), written: slices.Clone(b.written)})
	}
	c.kernels, c.marks = slices.Clone(d.kernels), slices.Clone(d.marks)
	return &c
}
