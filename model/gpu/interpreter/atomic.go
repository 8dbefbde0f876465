package interpreter

import (
	"math/bits"
	"strings"
)

// atomic compiles red.or, which sets bits of a word in global memory.
func (b *builder) atomic(c *instruction, op, operands []string) error {
	if strings.Join(op, ".") != "red.or.b32" || len(operands) != 2 {
		return errUnknown
	}
	address, offset, err := b.memoryOperand(operands[0])
	if err != nil {
		return err
	}
	row, err := b.value(operands[1])
	if err != nil {
		return err
	}
	// Lanes change memory one after another, in their order; the lock holds other blocks off.
	c.do = func(w *warp) {
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			data := w.touchGlobal(l, changes, w.r[address][l]+offset, 4)
			w.last.lock.Lock()
			put(data, 4, get(data, 4, false)|w.r[row][l])
			w.last.lock.Unlock()
		}
	}
	return nil
}
