//go:build linux && (amd64 || arm64) && !nocuda

package cuda

import (
	"fmt"
	"unsafe"

	"tagnet/model/engine/device"
)

// keptMarks is the number of marks, counted from the last, that Elapsed knows. Each needs an event of CUDA.
const keptMarks = 4096

// Mark returns a mark in the order of the stream's work. Only the last 4096 marks are kept.
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

// event returns the event of a mark; action names its use in errors.
func (g *gpu) event(action string, m device.Mark) (uintptr, error) {
	if m == 0 || uint64(m) > g.marked || g.marked-uint64(m) >= keptMarks {
		return 0, fmt.Errorf("%s CUDA device %d: mark %d is not one of the last %d", action, g.properties.Ordinal, m, keptMarks)
	}
	return g.events[(m-1)%keptMarks], nil
}

// Wait makes later work of the stream wait for a mark.
func (g *gpu) Wait(m device.Mark) error {
	if err := g.usable(); err != nil {
		return err
	}
	event, err := g.event("ordering the work of", m)
	if err != nil {
		return err
	}
	if r := g.call(g.driver.streamWait, g.stream, event, 0); r != success {
		return g.fail("ordering the work of", r)
	}
	return nil
}

// Elapsed waits for both marks and returns the milliseconds of device time from the first to the second.
func (g *gpu) Elapsed(from, to device.Mark) (milliseconds float64, err error) {
	if err := g.usable(); err != nil {
		return 0, err
	}
	var events [2]uintptr
	for i, m := range []device.Mark{from, to} {
		if events[i], err = g.event("timing", m); err != nil {
			return 0, err
		}
		if r := g.call(g.driver.eventSynchronize, events[i]); r != success {
			return 0, g.fail("timing", r)
		}
	}
	var ms float32
	if r := g.call(g.driver.eventElapsed, uintptr(unsafe.Pointer(&ms)), events[0], events[1]); r != success {
		return 0, g.fail("timing", r)
	}
	return float64(ms), nil
}
