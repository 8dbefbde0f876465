package interpreter

import "math/bits"

const all = ^uint32(0)

type warp struct {
	run    *run
	block  *block
	r      [][32]uint64 // rows of registers
	p      []uint32     // predicates
	ran    []bool       // by instruction: whether a lane has executed it
	pc     [32]int
	live   uint32 // lanes that have not ended
	mask   uint32 // lanes that execute the current instruction
	at     *instruction
	first  int // thread of lane 0
	number int
	last   *buffer // the buffer accessed last
	lastN  uint64
	cells  []cell // of last
	waits  bool   // at a barrier
}

// behind returns the lanes at the least instruction index, that index, and the next lanes' index.
func (w *warp) behind() (pc int, group uint32, limit int) {
	pc, limit = int(^uint(0)>>1), int(^uint(0)>>1)
	for live := w.live; live != 0; live &= live - 1 {
		l := bits.TrailingZeros32(live)
		switch at := w.pc[l&31]; {
		case at < pc:
			limit = pc
			pc, group = at, 1<<l
		case at == pc:
			group |= 1 << l
		case at < limit:
			limit = at
		}
	}
	return pc, group, limit
}

// advance runs a warp to its end or its next barrier, always the lanes that are furthest behind, so that lanes which
// diverged converge again.
func (w *warp) advance() {
	code := w.run.kernel.code
	for w.live != 0 {
		// Run the group to limit, where the next lanes wait to join.
		pc, group, limit := w.behind()
		for {
			c := &code[pc]
			w.at = c
			mask := group
			if c.guarded {
				mask &= c.guard.lanes(w)
			}
			switch c.kind {
			case plain:
				if mask != 0 {
					w.mask, w.ran[pc] = mask, true
					c.do(w)
				}
				pc++
			case branch:
				// Lanes that disagree on a branch are two groups from here.
				switch mask {
				case group:
					pc = c.target
				case 0:
					pc++
				default:
					w.move(mask, c.target)
					w.move(group&^mask, pc+1)
					pc = -1
				}
			case end:
				w.live &^= mask
				if group &^= mask; group == 0 {
					pc = -1
				} else {
					pc++
				}
			case barrier:
				if mask == 0 {
					pc++
					break
				}
				// All live lanes have to reach a barrier together.
				if mask != w.live {
					w.fail(-1, "a barrier in lanes %08x, while %08x have not ended", mask, w.live)
				}
				w.waits = true
				w.move(mask, pc+1)
				return
			}
			if pc < 0 {
				break
			}
			if pc >= limit {
				w.move(group, pc)
				break
			}
		}
	}
}

func (w *warp) move(lanes uint32, pc int) {
	for ; lanes != 0; lanes &= lanes - 1 {
		w.pc[bits.TrailingZeros32(lanes)&31] = pc
	}
}

// barrier compiles bar.sync of a block's warps and bar.warp.sync of a warp's lanes.
func (b *builder) barrier(c *instruction, op, operands []string) error {
	switch {
	case len(op) > 1 && op[1] == "warp":
		row, err := b.value(operands[0])
		c.do = func(w *warp) {
			w.members(row)
			w.block.shared.synchronizeWarp(w)
		}
		return err
	case len(op) != 2 || op[1] != "sync" || len(operands) != 1 || operands[0] != "0":
		return errUnknown
	}
	c.kind = barrier
	return nil
}
