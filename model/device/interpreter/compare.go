package interpreter

import (
	"math/bits"
	"slices"
	"strings"
)

// order compares two registers as numbers of a type. Neither holds for floats where one is NaN.
type order struct{ less, equal func(x, y uint64) bool }

func (o order) min(x, y uint64) uint64 {
	if o.less(y, x) {
		return y
	}
	return x
}

func (o order) max(x, y uint64) uint64 {
	if o.less(x, y) {
		return y
	}
	return x
}

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
	case "f64":
		return &order{func(x, y uint64) bool { return f64(x) < f64(y) }, func(x, y uint64) bool { return f64(x) == f64(y) }}
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
	nan := func(x uint64) bool { return t[0] == 'f' && !equal(x, x) }
	switch how {
	case "lt", "lo":
		return less
	case "eq":
		return equal
	case "gt", "hi":
		return func(x, y uint64) bool { return less(y, x) }
	case "le", "ls":
		return func(x, y uint64) bool { return less(x, y) || equal(x, y) }
	case "ge", "hs":
		return func(x, y uint64) bool { return less(y, x) || equal(x, y) }
	case "ne": // false for NaN
		return func(x, y uint64) bool { return !equal(x, y) && !nan(x) && !nan(y) }
	}
	if t[0] != 'f' {
		return nil
	}
	switch how { // also true for NaN: what the opposite is not
	case "ltu":
		return func(x, y uint64) bool { return !(less(y, x) || equal(x, y)) }
	case "leu":
		return func(x, y uint64) bool { return !less(y, x) }
	case "gtu":
		return func(x, y uint64) bool { return !(less(x, y) || equal(x, y)) }
	case "geu":
		return func(x, y uint64) bool { return !less(x, y) }
	case "equ":
		return func(x, y uint64) bool { return equal(x, y) || nan(x) || nan(y) }
	case "neu":
		return func(x, y uint64) bool { return !equal(x, y) }
	case "num":
		return func(x, y uint64) bool { return !nan(x) && !nan(y) }
	case "nan":
		return func(x, y uint64) bool { return nan(x) || nan(y) }
	}
	return nil
}

// compare compiles setp and set.
func (b *builder) compare(op, operands []string) (func(*warp), error) {
	if op[0] == "testp" && len(op) == 3 && len(operands) == 2 {
		return b.test(op, operands)
	}
	if op[0] != "setp" && op[0] != "set" || len(op) < 3 || len(operands) < 3 {
		return nil, nil
	}
	flush := slices.Contains(op, "ftz")
	op = slices.DeleteFunc(slices.Clone(op), func(word string) bool { return word == "ftz" })
	t := op[len(op)-1]
	holds := comparison(op[1], t)
	r, err := b.allValues(operands[1:3])
	if err != nil || holds == nil {
		return nil, err
	}
	if flush {
		inner := holds
		holds = func(x, y uint64) bool { return inner(flushed(x), flushed(y)) }
	}
	var join func(x, y uint32) uint32
	var with source
	if len(operands) == 4 {
		if join = booleans[op[2]]; join == nil {
			return nil, errUnknown
		}
		if with, err = b.predicate(operands[3]); err != nil {
			return nil, err
		}
	}
	result := lanesThat(op[1], t, flush, r, holds)
	if op[0] == "setp" {
		return b.setp(operands[0], result, join, with)
	}
	to, err := b.value(operands[0])
	one := uint64(^uint32(0))
	if op[len(op)-2] == "f32" {
		one = 0x3f800000
	}
	return func(w *warp) {
		lanes := result(w)
		if join != nil {
			lanes = join(lanes, with.lanes(w))
		}
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			w.r[to][l] = 0
			if lanes>>l&1 != 0 {
				w.r[to][l] = one
			}
		}
	}, err
}

// lanesThat returns the function that collects the lanes for which a comparison holds.
func lanesThat(how, t string, flush bool, r []int, holds func(x, y uint64) bool) func(w *warp) uint32 {
	if loop := hotCompare(how, t); loop != nil && !flush {
		return func(w *warp) uint32 { return loop(&w.r[r[0]], &w.r[r[1]]) }
	}
	return func(w *warp) (lanes uint32) {
		x, y := &w.r[r[0]], &w.r[r[1]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			if holds(x[l], y[l]) {
				lanes |= 1 << l
			}
		}
		return lanes
	}
}

func (b *builder) setp(to string, result func(w *warp) uint32, join func(x, y uint32) uint32, with source) (func(*warp), error) {
	first, second, two := strings.Cut(to, "|")
	p, err := b.setPredicate(first)
	if err != nil {
		return nil, err
	}
	if !two && join == nil {
		return func(w *warp) { w.setLanes(p, result(w)) }, nil
	}
	q, err := b.setPredicate(second)
	return func(w *warp) {
		yes := result(w)
		no := ^yes
		if join != nil {
			also := with.lanes(w)
			yes, no = join(yes, also), join(no, also)
		}
		w.setLanes(q, no)
		w.setLanes(p, yes)
	}, err
}

// test compiles testp.
func (b *builder) test(op, operands []string) (func(*warp), error) {
	p, err := b.setPredicate(operands[0])
	if err != nil {
		return nil, err
	}
	r, err := b.value(operands[1])
	exponent, fraction := uint(8), uint(23)
	if op[2] == "f64" {
		exponent, fraction = 11, 52
	}
	holds := map[string]func(e, f, top uint64) bool{
		"finite":     func(e, f, top uint64) bool { return e != top },
		"infinite":   func(e, f, top uint64) bool { return e == top && f == 0 },
		"number":     func(e, f, top uint64) bool { return e != top || f == 0 },
		"notanumber": func(e, f, top uint64) bool { return e == top && f != 0 },
		"normal":     func(e, f, top uint64) bool { return e != 0 && e != top },
		"subnormal":  func(e, f, top uint64) bool { return e == 0 && f != 0 },
	}[op[1]]
	if holds == nil {
		return nil, errUnknown
	}
	return func(w *warp) {
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			top := uint64(1)<<exponent - 1
			x := w.r[r][l]
			w.setLane(p, l, holds(x>>fraction&top, x&(1<<fraction-1), top))
		}
	}, err
}
