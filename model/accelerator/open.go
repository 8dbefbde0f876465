package accelerator

import (
	"fmt"
	"sync"

	"tagnet/formats/remedy"
	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/gpu"
	"tagnet/model/graph"
	"tagnet/model/optimizer"
	"tagnet/model/parameters"
	"tagnet/model/relations"
)

// Driver opens a device by its number, as cuda.Open does.
type Driver func(ordinal int) (device.Device, error)

// Process are the devices of this machine, each opened at most once by this process.
var Process Devices = process

var process = &opener{driver: none}

// Register makes the devices of a driver those of Process. Programs that train or score do so when they are initialized:
// the others do not link the driver, which would make them dynamic.
func Register(d Driver) {
	process.mu.Lock()
	defer process.mu.Unlock()
	process.driver, process.open = d, nil
}

// New returns the devices of a driver. Each is opened at most once at a time.
func New(d Driver) Devices { return &opener{driver: d} }

// none is the driver of a program that offers no devices.
func none(int) (device.Device, error) {
	return nil, remedy.Errorf("use --device cpu", "%w: this program offers no devices", device.ErrNoDriver)
}

// opener opens devices, which compute with package gpu, and keeps those that are open by their number.
type opener struct {
	mu     sync.Mutex
	driver Driver
	open   map[int]*engine
}

func (o *opener) Supports(c configuration.Configuration) error { return gpu.Supports(c) }

func (o *opener) Open(ordinal int) (Accelerator, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if e := o.open[ordinal]; e != nil {
		return e, nil
	}
	d, err := o.driver(ordinal)
	if err != nil {
		return nil, err
	}
	if o.open == nil {
		o.open = map[int]*engine{}
	}
	e := &engine{device: gpu.NewKeeper(d), opener: o, ordinal: ordinal}
	o.open[ordinal] = e
	return e, nil
}

// engine is an open device.
type engine struct {
	device  device.Device
	opener  *opener
	ordinal int
}

func (e *engine) Name() string { return "cuda" }

func (e *engine) String() string {
	return fmt.Sprintf("cuda:%d (%s)", e.ordinal, e.device.Properties().Name)
}

func (e *engine) NewTrainer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32], solver *optimizer.Adam) (Trainer, error) {
	t, err := gpu.NewTrainer(e.device, g, between, c, p, solver)
	if err != nil {
		return nil, err
	}
	return t, nil
}

func (e *engine) NewScorer(g *graph.Graph, between *relations.Graph, c configuration.Configuration, p *parameters.Set[float32]) (Scorer, error) {
	s, err := gpu.NewScorer(e.device, g, between, c, p)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Close closes the device, which a later Open opens again. Closing it twice does nothing.
func (e *engine) Close() error {
	o := e.opener
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.open[e.ordinal] != e {
		return nil
	}
	delete(o.open, e.ordinal)
	return e.device.Close()
}
