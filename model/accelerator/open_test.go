package accelerator

import (
	"errors"
	"testing"

	"tagnet/model/engine/device"
	"tagnet/model/weights/configuration"
)

// some is a device that counts how often it is closed.
type some struct {
	Accelerator
	closed int
}

func (s *some) Close() error { s.closed++; return nil }

// machine opens devices by a function.
type machine func() (Accelerator, error)

func (machine) Supports(configuration.Configuration) error { return nil }

func (m machine) Open(int) (Accelerator, error) { return m() }

func TestDevicesAreOpenedOnce(t *testing.T) {
	t.Parallel()
	var all []*some
	failure := device.ErrNoDevice
	devices := New(machine(func() (Accelerator, error) {
		if failure != nil {
			return nil, failure
		}
		all = append(all, &some{})
		return all[len(all)-1], nil
	}))
	if a, err := devices.Open(0); a != nil || !errors.Is(err, device.ErrNoDevice) {
		t.Fatalf("%v, error %v, want that of the device", a, err)
	}
	failure = nil
	open := func(ordinal, want int) Accelerator {
		t.Helper()
		a, err := devices.Open(ordinal)
		if err != nil || len(all) != want {
			t.Fatalf("%v, opened %d times, want %d", err, len(all), want)
		}
		return a
	}
	first := open(0, 1)
	if open(0, 1) != first {
		t.Error("the second one is another")
	}
	open(1, 2)
	for range 2 {
		if err := first.Close(); err != nil || all[0].closed != 1 || all[1].closed != 0 {
			t.Errorf("closed %d and %d times: %v", all[0].closed, all[1].closed, err)
		}
	}
	again := open(0, 3)
	if err := first.Close(); err != nil || all[2].closed != 0 || open(0, 3) != again {
		t.Error("closing the first one again has an effect on the next one")
	}
}
