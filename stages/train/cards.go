package train

import (
	"context"
	"errors"
	"sync"

	"tagnet/model/accelerator"
	"tagnet/model/engine/device"
	"tagnet/stages/worker"
)

// cards are the devices that the shards of this process compute on, each on one of its own.
var cards = newPool()

// pool deals devices out by their number.
type pool struct {
	sync.Mutex
	changed *sync.Cond
	inUse   map[int]bool
	lost    map[int]bool // devices that have failed
	number  int          // of the machine's devices, 0 until it is known
}

func newPool() *pool {
	p := &pool{inUse: map[int]bool{}}
	p.changed = sync.NewCond(p)
	p.forget()
	return p
}

// onOneDevice returns p for a shard: with one of the chosen devices, which no other shard of this process has until
// done is called with the shard's error. For the CPU it returns p.
func (p Params) onOneDevice(ctx context.Context) (_ Params, done func(error), err error) {
	if p.Run.Device.Mode != device.CUDA {
		return p, func(error) {}, nil
	}
	ordinal, err := cards.take(ctx, p.Run.Device)
	if err != nil {
		return p, nil, err
	}
	p.Run.Device = device.Choice{Mode: device.CUDA, Ordinal: ordinal}
	return p, func(failed error) {
		if failed != nil { // a runner that repeats the shard does not get the same worker
			_ = worker.Discard(func(k worker.Key) bool { return k == p.trainerKey() }) // the first error says more
		}
		cards.giveBack(ordinal, errors.Is(failed, device.ErrLost))
	}, nil
}

// take waits for a device that nobody has. When ctx is canceled it returns the cause.
func (p *pool) take(ctx context.Context, choice device.Choice) (ordinal int, err error) {
	defer context.AfterFunc(ctx, func() {
		p.Lock()
		defer p.Unlock()
		p.changed.Broadcast()
	})()
	p.Lock()
	defer p.Unlock()
	for ctx.Err() == nil {
		ordinal, found, err := p.find(choice)
		if err != nil {
			return 0, err
		}
		if found {
			p.inUse[ordinal] = true
			return ordinal, nil
		}
		p.changed.Wait()
	}
	return 0, context.Cause(ctx)
}

// find returns the first device that nobody has, if there is one. One that has failed is the last resort: rather a
// shard waits for another. Devices are opened when they are needed first, which shows how many there are.
func (p *pool) find(choice device.Choice) (ordinal int, found bool, err error) {
	if !choice.All {
		return choice.Ordinal, !p.inUse[choice.Ordinal], nil
	}
	busy := false
	for i := 0; p.number == 0 || i < p.number; i++ {
		switch {
		case p.inUse[i]:
			busy = true
		case p.lost[i]:
			ordinal, found = i, true
		case p.number > 0:
			return i, true, nil
		default:
			_, err := accelerator.Process.Open(i)
			if i == 0 || !errors.Is(err, device.ErrRange) {
				return i, err == nil, err
			}
			p.number = i
		}
	}
	return ordinal, found && !busy, nil
}

// giveBack ends take.
func (p *pool) giveBack(ordinal int, lost bool) {
	p.Lock()
	defer p.Unlock()
	delete(p.inUse, ordinal)
	if lost {
		p.lost[ordinal] = true
	}
	p.changed.Broadcast()
}

// forget forgets which devices have failed, and how many there are.
func (p *pool) forget() {
	p.Lock()
	defer p.Unlock()
	p.lost, p.number = map[int]bool{}, 0
}
