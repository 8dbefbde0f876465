//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"fmt"
	"unsafe"

	"tagnet/model/engine/device"
)

// keptMarks is the number of marks, counted from the last, that Wait knows. Each needs an event of CUDA.
const keptMarks = 16

// Mark returns a mark in the order of the stream's work. Only the last 16 marks are kept.
func (g *gpu) Mark() (device.Mark, error) {
	if err := g.usable(); err != nil {
		return 0, err
	}
	i := int(g.marked % keptMarks)
	if i == len(g.events) {
		var e uintptr
		if r := g.call(g.driver.eventCreate, uintptr(unsafe.Pointer(&e)), 0); r != success {
			return 0, g.fail("marking the work of", r)
		}
		g.events = append(g.events, e)
	}
	if r := g.call(g.driver.eventRecord, g.events[i], g.stream); r != success {
		return 0, g.fail("marking the work of", r)
	}
	g.marked++
	return device.Mark(g.marked), nil // from 1: 0 is no mark
}

// Wait makes later work of the stream wait for a mark.
func (g *gpu) Wait(m device.Mark) error {
	if err := g.usable(); err != nil {
		return err
	}
	if m == 0 || uint64(m) > g.marked || g.marked-uint64(m) >= keptMarks {
		return fmt.Errorf("ordering the work of CUDA device %d: mark %d is not one of the last %d", g.properties.Ordinal, m, keptMarks)
	}
	if r := g.call(g.driver.streamWait, g.stream, g.events[(m-1)%keptMarks], 0); r != success {
		return g.fail("ordering the work of", r)
	}
	return nil
}
