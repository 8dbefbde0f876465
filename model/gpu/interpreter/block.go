package interpreter

import (
	"math/bits"
	"slices"
)

// worker runs blocks one after another.
type worker struct {
	run   *run
	block *block
}

// block is a running block. Each worker has one, which it starts again for the next.
type block struct {
	id      int
	mark    uint64 // what it leaves in cells: the launch and id + 1
	warps   []*warp
	shared  shared
	blockID []int // rows of %ctaid.x
}

// worker returns one of an earlier launch with as many threads, or a new one.
func (k *kernel) worker(r *run) *worker {
	for i, w := range k.idle {
		if w.run.threads == r.threads {
			k.idle = slices.Delete(k.idle, i, i+1)
			w.begin(r)
			return w
		}
	}
	// Rows of constants are filled once, for all launches.
	b := &block{warps: make([]*warp, (r.threads+31)/32)}
	b.shared.init(k, len(b.warps))
	for i := range b.warps {
		w := &warp{block: b, first: 32 * i, number: i, r: make([][32]uint64, k.values), p: make([]uint32, k.predicates), ran: make([]bool, len(k.code))}
		for row := range w.r {
			w.r[row] = unwritten
		}
		for _, c := range k.constants {
			for l := range 32 {
				w.r[c.row][l] = c.value
			}
		}
		b.warps[i] = w
	}
	for _, s := range k.specials {
		if s.name == "%ctaid.x" {
			b.blockID = append(b.blockID, s.row)
		}
	}
	w := &worker{block: b}
	w.begin(r)
	return w
}

// begin prepares for a launch.
func (k *worker) begin(r *run) {
	k.run = r
	for _, w := range k.block.warps {
		w.run = r
		for _, s := range r.kernel.specials {
			for l := range 32 {
				w.r[s.row][l] = w.special(s.name, l)
			}
		}
	}
}

// unwritten is the initial value of registers: a NaN as a float, a big number as an integer.
var unwritten = func() (row [32]uint64) {
	for l := range row {
		row[l] = 0x7ff4deadffbadbad
	}
	return row
}()

// special returns a special register of a lane, other than %ctaid.x.
func (w *warp) special(name string, lane int) uint64 {
	switch name {
	case "%tid.x":
		return uint64(w.first + lane)
	case "%ntid.x":
		return uint64(w.run.threads)
	case "%nctaid.x":
		return uint64(w.run.blocks)
	}
	return 0
}

// try runs a block and returns its fault, nil if it ran to its end.
func (k *worker) try(id int) (f *Fault) {
	defer func() {
		if e := recover(); e != nil {
			var ok bool
			if f, ok = e.(*Fault); !ok {
				panic(e)
			}
		}
	}()
	k.block.start(k.run, id)
	k.block.complete()
	return nil
}

// start sets a block's warps to the first instruction, with registers that nothing wrote, for the block id of a run.
func (b *block) start(r *run, id int) {
	b.id, b.mark = id, r.stamp|uint64(id+1)
	b.shared.start()
	for i, w := range b.warps {
		// Lanes beyond the launch's threads are not live.
		w.live, w.waits = ^uint32(0), false
		if rest := r.threads - 32*i; rest < 32 {
			w.live = 1<<rest - 1
		}
		clear(w.pc[:])
		w.last = nil
		clear(w.p)
		if r.kernel.alwaysTrue >= 0 {
			w.p[r.kernel.alwaysTrue] = all
		}
		// Most warps of many blocks end early, and have written few of a thousand rows.
		for pc, ran := range w.ran {
			if !ran {
				continue
			}
			w.ran[pc] = false
			for _, row := range r.kernel.code[pc].writes {
				w.r[row] = unwritten
			}
		}
		for _, row := range b.blockID {
			for l := range 32 {
				w.r[row][l] = uint64(id)
			}
		}
	}
}

// complete runs the warps from barrier to barrier until all have ended.
func (b *block) complete() {
	for {
		ended := 0
		for _, w := range b.warps {
			if !w.waits {
				w.advance()
			}
			if w.live == 0 {
				ended++
			}
		}
		if ended == len(b.warps) {
			return
		}
		// All others wait, and the barrier is for all.
		if ended > 0 {
			b.stuck(ended)
		}
		b.shared.synchronize()
		for _, w := range b.warps {
			w.waits = false
		}
	}
}

// stuck fails at the barrier of the first warp that waits.
func (b *block) stuck(ended int) {
	var first *warp
	waiting := 0
	for _, w := range b.warps {
		if w.live != 0 && first == nil {
			first = w
		}
		waiting += bits.OnesCount32(w.live)
	}
	first.fail(-1, "a barrier that %d threads wait at, and %d of %d warps had ended before", waiting, ended, len(b.warps))
}
