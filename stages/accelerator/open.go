package accelerator

import (
	"fmt"
	"sync"

	"tagnet/model/configuration"
	"tagnet/model/device"
)

// Process are the devices of this machine, each opened at most once by this process.
var Process Devices = &opened{open: open, supports: supports}

// open opens a CUDA device.
func open(ordinal int) (Accelerator, error) {
	return nil, fmt.Errorf("cuda:%d: this program was built without CUDA: %w", ordinal, device.ErrNoDriver)
}

// supports is Devices.Supports for CUDA devices.
func supports(configuration.Configuration) error { return nil }

// opened keeps open devices by their number.
type opened struct {
	open     func(ordinal int) (Accelerator, error)
	supports func(configuration.Configuration) error

	mu      sync.Mutex
	devices map[int]*shared
}

// shared is an open device that Close removes from those that are open.
type shared struct {
	Accelerator
	close func() error
}

func (s *shared) Close() error { return s.close() }

func (o *opened) Supports(c configuration.Configuration) error { return o.supports(c) }

func (o *opened) Open(ordinal int) (Accelerator, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := o.devices[ordinal]; s != nil {
		return s, nil
	}
	a, err := o.open(ordinal)
	if err != nil {
		return nil, err
	}
	if o.devices == nil {
		o.devices = map[int]*shared{}
	}
	s := &shared{Accelerator: a}
	s.close = func() error {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.devices[ordinal] != s {
			return nil // closed already
		}
		delete(o.devices, ordinal)
		return a.Close()
	}
	o.devices[ordinal] = s
	return s, nil
}
