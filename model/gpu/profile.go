package gpu

import (
	"cmp"
	"maps"
	"slices"

	"tagnet/model/engine/device"
)

// KernelTime is the time of a kernel on the device, over all of its launches.
type KernelTime struct {
	Kernel       string
	Launches     int
	Milliseconds float64
}

// profile measures launches: a mark before and one behind each.
type profile struct {
	launches []measured
	times    map[string]KernelTime
}

// pending is the largest number of launches that wait to be added up: a device keeps a few thousand marks.
const pending = 1000

// measured is a launch of a kernel between two marks in the stream.
type measured struct {
	kernel   string
	from, to device.Mark
}

// Profile starts to measure every launch, which costs a few microseconds each; Times ends it.
func (e *engine) Profile() { e.profile = &profile{times: map[string]KernelTime{}} }

// Times returns the times of the kernels since Profile, the longest first.
func (e *engine) Times() ([]KernelTime, error) {
	e.addTimes()
	times := e.profile.times
	e.profile = nil
	return slices.SortedFunc(maps.Values(times), func(a, b KernelTime) int {
		return cmp.Or(cmp.Compare(b.Milliseconds, a.Milliseconds), cmp.Compare(a.Kernel, b.Kernel))
	}), e.memory.err
}

// addTimes waits for the launches so far and adds their times.
func (e *engine) addTimes() {
	for _, m := range e.profile.launches {
		if e.memory.err != nil {
			return
		}
		var milliseconds float64
		milliseconds, e.memory.err = e.device.Elapsed(m.from, m.to)
		t := e.profile.times[m.kernel]
		e.profile.times[m.kernel] = KernelTime{m.kernel, t.Launches + 1, t.Milliseconds + milliseconds}
	}
	e.profile.launches = e.profile.launches[:0]
}

// measure notes a launch whose marks surround it.
func (e *engine) measure(kernel string, from device.Mark) {
	if e.profile == nil {
		return
	}
	e.profile.launches = append(e.profile.launches, measured{kernel, from, e.mark()})
	if len(e.profile.launches) == pending {
		e.addTimes()
	}
}

// mark returns a mark, while a profile is taken.
func (e *engine) mark() (m device.Mark) {
	if e.profile != nil {
		m = e.memory.mark()
	}
	return m
}
