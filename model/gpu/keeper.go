package gpu

import (
	"errors"
	"maps"
	"weak"

	"tagnet/model/engine/device"
	"tagnet/model/graph"
)

// Keeper is a device that keeps the parts of a graph that trainers and scorers place on it, for later ones on the same graph. A part without users
// counts as free memory: it is given up where memory is short, or with its graph. Like a device, it is for one goroutine at a time.
type Keeper struct {
	device.Device
	parts map[partKey]*part
}

// NewKeeper returns a keeper on a device, which has no other users.
func NewKeeper(d device.Device) *Keeper { return &Keeper{d, map[partKey]*part{}} }

// partKey names a part of a graph without keeping the graph.
type partKey struct {
	graph weak.Pointer[graph.Graph]
	links bool
}

// part is a set of arrays of a graph in device memory: its edges, or the links between edges that training also reads.
type part struct {
	memory memory
	users  int
	set    func(b *batch) // the part's fields of a batch
}

// placePart puts a part of a graph on a device.
func placePart(d device.Device, g *graph.Graph, inverse inverse, links bool) (*part, error) {
	p := &part{memory: memory{device: d}}
	if links {
		p.set = placeLinks(&p.memory, g, inverse)
	} else {
		p.set = placeEdges(&p.memory, g)
	}
	if err := p.memory.err; err != nil {
		_ = p.memory.free() // the first error says more
		return nil, err
	}
	return p, nil
}

// take returns a part for a user, and places it unless it is kept.
func (k *Keeper) take(g *graph.Graph, inverse inverse, links bool) (*part, error) {
	if err := k.drop(func(key partKey) bool { return key.graph.Value() == nil }); err != nil {
		return nil, err
	}
	key := partKey{weak.Make(g), links}
	if k.parts[key] == nil {
		p, err := placePart(k, g, inverse, links)
		if err != nil {
			return nil, err
		}
		k.parts[key] = p
	}
	k.parts[key].users++
	return k.parts[key], nil
}

// drop gives back the parts without users for which is returns true.
func (k *Keeper) drop(is func(partKey) bool) error {
	var errs []error
	maps.DeleteFunc(k.parts, func(key partKey, p *part) bool {
		if p.users > 0 || !is(key) {
			return false
		}
		errs = append(errs, p.memory.free())
		return true
	})
	return errors.Join(errs...)
}

// Properties counts parts without users as free memory.
func (k *Keeper) Properties() device.Properties {
	properties := k.Device.Properties()
	for _, p := range k.parts {
		if p.users == 0 {
			properties.Free += p.memory.bytes
		}
	}
	return properties
}

// Allocate gives up parts without users if memory is short.
func (k *Keeper) Allocate(bytes int64) (device.Pointer, error) {
	at, err := k.Device.Allocate(bytes)
	if !errors.Is(err, device.ErrMemory) {
		return at, err
	}
	if failed := k.drop(func(partKey) bool { return true }); failed != nil {
		return 0, failed
	}
	return k.Device.Allocate(bytes)
}

// hold sets the fields of a part of the engine's graph, until close.
func (e *engine) hold(links bool) {
	if e.memory.err != nil {
		return
	}
	var p *part
	if k, keeps := e.device.(*Keeper); keeps {
		p, e.memory.err = k.take(e.graph, e.inverse, links)
	} else {
		p, e.memory.err = placePart(e.device, e.graph, e.inverse, links)
	}
	if e.memory.err == nil {
		p.set(&e.batch)
		e.held = append(e.held, p)
	}
}

// letGo ends hold. Without a Keeper the memory is given back.
func (e *engine) letGo() error {
	var errs []error
	for _, p := range e.held {
		if _, keeps := e.device.(*Keeper); keeps {
			p.users--
		} else {
			errs = append(errs, p.memory.free())
		}
	}
	e.held = nil
	return errors.Join(errs...)
}
