package interpreter

import (
	"math/bits"
	"strings"
)

// move compiles mov and cvta.
func (b *builder) move(op, operands []string) (func(*warp), error) {
	switch {
	case strings.Join(op, ".") == "cvta.to.global.u64": // generic addresses are those of global memory
		op = []string{"mov", "u64"}
	case op[0] != "mov":
		return nil, nil
	}
	if len(operands) != 2 {
		return nil, nil
	}
	if op[1] == "pred" {
		to, err := b.setPredicate(operands[0])
		if err != nil {
			return nil, err
		}
		from, err := b.predicate(operands[1])
		return func(w *warp) { w.setLanes(to, from.lanes(w)) }, err
	}
	// A vector in braces is packed into, or unpacked from, a register.
	bytes := typeBytes(op[1])
	to, err := b.allValues(split(strings.Trim(operands[0], "{}")))
	if err != nil {
		return nil, err
	}
	from, err := b.allValues(split(strings.Trim(operands[1], "{}")))
	if err != nil {
		return nil, err
	}
	switch {
	case bytes == 0 || len(to) == 0 || len(from) == 0:
		return nil, nil
	case len(to) == 1 && len(from) == 1:
		return copyRow(to[0], from[0]), nil
	case len(from) == 1 && bytes%len(to) == 0: // unpack
		step := 8 * bytes / len(to)
		return func(w *warp) {
			for m := w.mask; m != 0; m &= m - 1 {
				l := bits.TrailingZeros32(m) & 31
				value := w.r[from[0]][l]
				for i, row := range to {
					w.r[row][l] = value >> (i * step) & (1<<step - 1)
				}
			}
		}, nil
	case len(to) == 1 && bytes%len(from) == 0: // pack
		step := 8 * bytes / len(from)
		return func(w *warp) {
			for m := w.mask; m != 0; m &= m - 1 {
				l := bits.TrailingZeros32(m) & 31
				value := uint64(0)
				for i, row := range from {
					value |= w.r[row][l] & (1<<step - 1) << (i * step)
				}
				w.r[to[0]][l] = value
			}
		}, nil
	}
	return nil, nil
}

// copyRow returns a copy of a row in the active lanes, of the whole row at once where all are active.
func copyRow(to, from int) func(*warp) {
	return func(w *warp) {
		if w.mask == all {
			w.r[to] = w.r[from]
			return
		}
		d, a := &w.r[to], &w.r[from]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			d[l] = a[l]
		}
	}
}

// setLanes sets a predicate of the lanes that execute the instruction.
func (w *warp) setLanes(p int, lanes uint32) { w.p[p] = w.p[p]&^w.mask | lanes&w.mask }

// selection compiles selp.
func (b *builder) selection(op, operands []string) (func(*warp), error) {
	if op[0] != "selp" || len(operands) != 4 {
		return nil, nil
	}
	p, err := b.predicate(operands[3])
	if err != nil {
		return nil, err
	}
	r, err := b.allValues(operands[:3])
	return func(w *warp) {
		d, x, y, which := &w.r[r[0]], &w.r[r[1]], &w.r[r[2]], p.lanes(w)
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			if which>>l&1 != 0 {
				d[l] = x[l]
			} else {
				d[l] = y[l]
			}
		}
	}, err
}

// logic compiles operations on predicates.
func (b *builder) logic(op, operands []string) (func(*warp), error) {
	if op[len(op)-1] != "pred" {
		return nil, nil
	}
	to, err := b.setPredicate(operands[0])
	if err != nil {
		return nil, err
	}
	var from []source
	for _, s := range operands[1:] {
		p, err := b.predicate(s)
		if err != nil {
			return nil, err
		}
		from = append(from, p)
	}
	join := booleans[op[0]]
	switch {
	case op[0] == "not" && len(from) == 1:
		return func(w *warp) { w.setLanes(to, ^from[0].lanes(w)) }, nil
	case join != nil && len(from) == 2:
		return func(w *warp) { w.setLanes(to, join(from[0].lanes(w), from[1].lanes(w))) }, nil
	}
	return nil, errUnknown
}

var booleans = map[string]func(x, y uint32) uint32{
	"and": func(x, y uint32) uint32 { return x & y },
	"or":  func(x, y uint32) uint32 { return x | y },
	"xor": func(x, y uint32) uint32 { return x ^ y },
}
