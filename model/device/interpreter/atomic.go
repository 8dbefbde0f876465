package interpreter

import (
	"math/bits"
)

// atomic compiles atom and red, which differ in that red has no result.
func (b *builder) atomic(c *instruction, op, operands []string) error {
	t := op[len(op)-1]
	size := typeBytes(t)
	where, action := generic, ""
	for _, word := range op[1 : len(op)-1] {
		switch s, ok := spaces[word]; {
		case ok:
			where = s
		case word == "relaxed", word == "acquire", word == "release", word == "acq_rel", word == "cta", word == "gpu", word == "sys":
		default:
			action = word
		}
	}
	change := atomicAction(action, t)
	wanted := 3
	if op[0] == "red" {
		operands = append([]string{"_"}, operands...)
	}
	if action == "cas" {
		wanted = 4
	}
	if change == nil || size < 4 || len(operands) != wanted {
		return errUnknown
	}
	address, offset, err := b.memoryOperand(operands[1])
	if err != nil {
		return err
	}
	values := operands[2:]
	if wanted == 3 {
		values = []string{operands[2], operands[2]}
	}
	rows, err := b.allValues([]string{operands[0], values[0], values[1]})
	if err != nil {
		return err
	}
	c.do = func(w *warp) {
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			data := w.touch(where, l, changes, w.r[address][l]+offset, size)
			unlock := w.lockFor(where)
			old := get(data, size, false)
			put(data, size, change(old, w.r[rows[1]][l], w.r[rows[2]][l]))
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

// atomicAction returns what an atomic instruction stores, given the old value and its operands.
func atomicAction(action, t string) func(old, x, y uint64) uint64 {
	switch action {
	case "exch":
		return func(_, x, _ uint64) uint64 { return x }
	case "cas":
		if t == "b32" || t == "u32" || t == "s32" {
			return func(old, x, y uint64) uint64 {
				if uint32(old) == uint32(x) {
					return y
				}
				return old
			}
		}
		return func(old, x, y uint64) uint64 {
			if old == x {
				return y
			}
			return old
		}
	case "and":
		return func(old, x, _ uint64) uint64 { return old & x }
	case "or":
		return func(old, x, _ uint64) uint64 { return old | x }
	case "xor":
		return func(old, x, _ uint64) uint64 { return old ^ x }
	case "add":
		if t[0] == 'f' {
			return nil // the sum depends on the order
		}
		return func(old, x, _ uint64) uint64 { return old + x }
	case "inc":
		return func(old, x, _ uint64) uint64 {
			if uint32(old) >= uint32(x) {
				return 0
			}
			return old + 1
		}
	case "dec":
		return func(old, x, _ uint64) uint64 {
			if o := uint32(old); o == 0 || o > uint32(x) {
				return x
			}
			return old - 1
		}
	case "min", "max":
		f := numbers(t)
		if f == nil {
			return nil
		}
		if action == "min" {
			return func(old, x, _ uint64) uint64 { return f.min(old, x) }
		}
		return func(old, x, _ uint64) uint64 { return f.max(old, x) }
	}
	return nil
}
