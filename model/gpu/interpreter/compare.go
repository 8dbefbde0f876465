package interpreter

import "math/bits"

// order compares two registers as numbers of a type. Neither holds for floats where one is NaN.
type order struct{ less, equal func(x, y uint64) bool }

func ordered[T int16 | uint16 | int32 | uint32 | int64 | uint64]() *order {
	return &order{func(x, y uint64) bool { return T(x) < T(y) }, func(x, y uint64) bool { return T(x) == T(y) }}
}

// numbers returns the order of a type, nil for an unknown one.
func numbers(t string) *order {
	switch t {
	case "s16":
		return ordered[int16]()
	case "u16", "b16":
		return ordered[uint16]()
	case "s32":
		return ordered[int32]()
	case "u32", "b32":
		return ordered[uint32]()
	case "s64":
		return ordered[int64]()
	case "u64", "b64":
		return ordered[uint64]()
	case "f32":
		return &order{func(x, y uint64) bool { return f32(x) < f32(y) }, func(x, y uint64) bool { return f32(x) == f32(y) }}
	}
	return nil
}

// comparison returns the function of a comparison such as lt, or ltu: not ordered or less.
func comparison(how, t string) func(x, y uint64) bool {
	o := numbers(t)
	if o == nil {
		return nil
	}
	less, equal := o.less, o.equal
	switch how {
	case "lt":
		return less
	case "eq":
		return equal
	case "gt":
		return func(x, y uint64) bool { return less(y, x) }
	case "le":
		return func(x, y uint64) bool { return less(x, y) || equal(x, y) }
	case "ge":
		return func(x, y uint64) bool { return less(y, x) || equal(x, y) }
	case "ne": // false for NaN
		return func(x, y uint64) bool { return less(x, y) || less(y, x) }
	}
	if t[0] != 'f' {
		return nil
	}
	if how == "nan" {
		return func(x, y uint64) bool { return !equal(x, x) || !equal(y, y) }
	}
	if opposite, ok := opposites[how]; ok {
		holds := comparison(opposite, t)
		return func(x, y uint64) bool { return !holds(x, y) }
	}
	return nil
}

// opposites has the negation of each comparison that is true where an operand is NaN.
var opposites = map[string]string{"leu": "gt", "gtu": "le", "geu": "lt", "neu": "eq"}

// compare compiles setp.
func (b *builder) compare(op, operands []string) (func(*warp), error) {
	if op[0] != "setp" || len(op) != 3 || len(operands) != 3 {
		return nil, nil
	}
	how, t := op[1], op[2]
	holds := comparison(how, t)
	to, err := b.setPredicate(operands[0])
	if err != nil || holds == nil {
		return nil, err
	}
	r, err := b.allValues(operands[1:])
	if err != nil {
		return nil, err
	}
	if loop := hotCompare(how, t); loop != nil {
		return func(w *warp) { w.setLanes(to, loop(&w.r[r[0]], &w.r[r[1]])) }, nil
	}
	return func(w *warp) {
		lanes := uint32(0)
		x, y := &w.r[r[0]], &w.r[r[1]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			if holds(x[l], y[l]) {
				lanes |= 1 << l
			}
		}
		w.setLanes(to, lanes)
	}, nil
}
