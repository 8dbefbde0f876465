package accelerator

import (
	"sync"

	"tagnet/formats/remedy"
	"tagnet/model/engine/device"
	"tagnet/model/weights/configuration"
)

// Process are the devices of this machine, each opened at most once by this process.
var Process Devices = process

var process = &opener{Devices: noDevices{}}

// Register sets the devices of Process. Programs that train or score call it when they are initialized. All others do
// not link a driver, which would make them dynamic.
func Register(d Devices) {
	process.mu.Lock()
	defer process.mu.Unlock()
	process.Devices, process.open = d, nil
}

// New returns devices of which each is opened at most once at a time.
func New(d Devices) Devices { return &opener{Devices: d} }

// noDevices are the devices of a program that registers none.
type noDevices struct{}

func (noDevices) Supports(configuration.Configuration) error { return nil }

func (noDevices) Open(int) (Accelerator, error) {
	return nil, remedy.Errorf(device.UseCPU, "%w: this program registers no devices with accelerator.Register", device.ErrNoDriver)
}

// opener keeps the devices that are open by their number.
type opener struct {
	Devices
	mu   sync.Mutex
	open map[int]*opened
}

// Open returns the device with a number, which is opened once.
func (o *opener) Open(ordinal int) (Accelerator, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if a := o.open[ordinal]; a != nil {
		return a, nil
	}
	a, err := o.Devices.Open(ordinal)
	if err != nil {
		return nil, err
	}
	if o.open == nil {
		o.open = map[int]*opened{}
	}
	kept := &opened{a, o, ordinal}
	o.open[ordinal] = kept
	return kept, nil
}

type opened struct {
	Accelerator
	opener  *opener
	ordinal int
}

// Close closes the device, which a later Open opens again. Closing it twice does nothing.
func (a *opened) Close() error {
	o := a.opener
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open[a.ordinal] != a {
		return nil
	}
	delete(o.open, a.ordinal)
	return a.Accelerator.Close()
}
