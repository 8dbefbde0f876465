package interpreter

import (
	"math/bits"
)

// atomic compiles atom and red, which differ in that red has no result.
func (b *builder) atomic(c *instruction, op, operands []string) error {
	// Between the name and the type, the words give a space and the action, in any order.
	t := op[len(op)-1]
	size := typeBytes(t)
	where, action := generic, ""
	for _, word := range op[1 : len(op)-1] {
		switch s, ok := spaces[word]; {
		case ok:
			where = s
		default:
			action = word
		}
	}
	change := atomicAction(action, t)
	// A red becomes an atom whose result goes to a fresh row.
	if op[0] == "red" {
		operands = append([]string{"_"}, operands...)
	}
	if change == nil || size < 4 || len(operands) != 3 {
		return errUnknown
	}
	address, offset, err := b.memoryOperand(operands[1])
	if err != nil {
		return err
	}
	rows, err := b.allValues([]string{operands[0], operands[2]})
	if err != nil {
		return err
	}
	// Lanes change memory one after another, in their order; the lock holds other blocks off.
	c.do = func(w *warp) {
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			data := w.touch(where, l, changes, w.r[address][l]+offset, size)
			unlock := w.lockFor(where)
			old := get(data, size, false)
			put(data, size, change(old, w.r[rows[1]][l]))
			unlock()
			w.r[rows[0]][l] = old
		}
	}
	return nil
}

// lockFor locks the buffer that was just accessed, if it is in global memory.
func (w *warp) lockFor(where space) func() {
	if where == sharedSpace || w.last == nil {
		return func() {}
	}
	w.last.lock.Lock()
	return w.last.lock.Unlock
}

// atomicAction returns what an atomic instruction stores, given the old value and its operand.
func atomicAction(action, t string) func(old, x uint64) uint64 {
	switch action {
	case "or":
		return func(old, x uint64) uint64 { return old | x }
	case "xor":
		return func(old, x uint64) uint64 { return old ^ x }
	case "add":
		if t[0] == 'f' {
			return nil // the sum depends on the order
		}
		return func(old, x uint64) uint64 { return old + x }
	case "max":
		if f := numbers(t); f != nil {
			return f.max
		}
	}
	return nil
}
