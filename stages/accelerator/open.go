package accelerator

import (
	"fmt"
	"sync"

	"tagnet/model/configuration"
	"tagnet/model/device"
)

// Process are the devices of this machine, each opened at most once by this process.
var Process Devices = process

var process = &opened{Devices: None{}}

// Register makes a kind of devices that of Process, which forgets those that are open. Packages call it when they are
// initialized.
func Register(devices Devices) {
	process.mu.Lock()
	defer process.mu.Unlock()
	process.Devices, process.open = devices, nil
}

// None are the devices of a program that offers none.
type None struct{}

// Supports returns nil.
func (None) Supports(configuration.Configuration) error { return nil }

// Open returns an error that wraps device.ErrNoDriver.
func (None) Open(int) (Accelerator, error) {
	return nil, fmt.Errorf("%w: this program offers no devices; use --device cpu", device.ErrNoDriver)
}

// opened keeps open devices by their number.
type opened struct {
	Devices

	mu   sync.Mutex
	open map[int]*shared
}

// shared is an open device that Close removes from those that are open.
type shared struct {
	Accelerator
	close func() error
}

func (s *shared) Close() error { return s.close() }

func (o *opened) Open(ordinal int) (Accelerator, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.open[ordinal]; s != nil {
		return s, nil
	}
	a, err := o.Devices.Open(ordinal)
	if err != nil {
		return nil, err
	}
	if o.open == nil {
		o.open = map[int]*shared{}
	}
	s := &shared{Accelerator: a}
	s.close = func() error {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.open[ordinal] != s {
			return nil // closed already
		}
		delete(o.open, ordinal)
		return a.Close()
	}
	o.open[ordinal] = s
	return s, nil
}
