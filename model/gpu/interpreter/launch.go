package interpreter

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"tagnet/model/engine/device"
	"tagnet/model/parallel"
)

type run struct {
	kernel    *kernel
	memory    *memory
	arguments []uint64
	blocks    int
	threads   int
	stamp     uint64 // of cells
	operation operation
}

// Launch runs a kernel. An error of the kernel is the *Fault of the first block that failed, in the seed's order.
func (d *Device) Launch(handle device.Kernel, blocks, threads int, arguments ...any) error {
	if handle == 0 || handle > device.Kernel(len(d.kernels)) {
		return fmt.Errorf("no kernel %d", handle)
	}
	k := d.kernels[handle-1]
	if limit := cmp.Or(k.threads, 1024); threads < 1 || threads > limit || blocks < 1 || blocks > math.MaxInt32 {
		return fmt.Errorf("%s: launch of %d blocks of %d threads: it takes at most %d threads, and at least 1 of each", k.name, blocks, threads, limit)
	}
	d.launches++
	r := &run{kernel: k, memory: d.memory, blocks: blocks, threads: threads, stamp: d.launches << launchBit, operation: d.schedule.next()}
	var err error
	if r.arguments, err = k.bind(arguments); err != nil {
		return err
	}
	// Blocks run in a drawn order. After a fault, only the blocks before it in that order still run, so that the first
	// fault does not depend on the workers' timing.
	order := rand.New(rand.NewPCG(parallel.Seed(d.seed, d.launches), 0)).Perm(blocks)
	workers := make([]*worker, min(d.workers, blocks))
	var lock sync.Mutex
	first, fault := blocks, (*Fault)(nil)
	parallel.Workers(len(workers), blocks, func(n, task int) {
		lock.Lock()
		stop := task > first
		lock.Unlock()
		if stop {
			return
		}
		// The kernel keeps its workers for later launches, and lends them under the lock.
		if workers[n] == nil {
			lock.Lock()
			workers[n] = k.worker(r)
			lock.Unlock()
		}
		if f := workers[n].try(order[task]); f != nil {
			lock.Lock()
			if task < first {
				first, fault = task, f
			}
			lock.Unlock()
		}
	})
	for _, w := range workers {
		if w != nil {
			k.idle = append(k.idle, w)
		}
	}
	if fault != nil {
		return fault
	}
	return nil
}

// bind returns the bits of arguments after it has compared their types with the parameters.
func (k *kernel) bind(arguments []any) ([]uint64, error) {
	if len(arguments) != len(k.parameters) {
		return nil, fmt.Errorf("%s: %d arguments, but it has %d parameters", k.name, len(arguments), len(k.parameters))
	}
	bits := make([]uint64, len(arguments))
	for i, a := range arguments {
		p, is := k.parameters[i], ""
		switch v := a.(type) {
		case int32:
			bits[i], is = uint64(uint32(v)), "32"
		case uint32:
			bits[i], is = uint64(v), "32"
		case float32:
			bits[i], is = uint64(math.Float32bits(v)), "f32"
		case uint64:
			bits[i], is = v, "64"
		case device.Pointer:
			bits[i], is = uint64(v), "64"
		}
		if is == "" || p.kind != is && (p.kind[0] == 'f' || p.kind[1:] != is) {
			return nil, fmt.Errorf("%s: argument %d is a %T, but the parameter is .%s", k.name, i, a, p.kind)
		}
	}
	return bits, nil
}
