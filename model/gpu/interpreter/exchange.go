package interpreter

import (
	"math/bits"
	"slices"
	"strings"
)

// members fails unless all lanes that the mask in a row names execute this instruction with the same mask.
func (w *warp) members(row int) {
	differs := uint64(0)
	for m := w.mask; m != 0; m &= m - 1 {
		differs |= w.r[row][bits.TrailingZeros32(m)&31] ^ uint64(w.mask)
	}
	if uint32(differs) == 0 { // just those that are here
		return
	}
	for m := w.mask; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		named := uint32(w.r[row][l])
		if named>>l&1 == 0 {
			w.fail(l, "the mask %08x does not name lane %d itself", named, l)
		}
		if named&^w.mask != 0 {
			w.fail(l, "the mask names lanes %08x, but only %08x are here", named, w.mask)
		}
		for n := named; n != 0; n &= n - 1 {
			if o := bits.TrailingZeros32(n) & 31; uint32(w.r[row][o]) != named {
				w.fail(l, "lane %d has mask %08x, lane %d %08x", l, named, o, uint32(w.r[row][o]))
			}
		}
	}
}

// exchange compiles what lanes of a warp do together.
func (b *builder) exchange(op, operands []string) (func(*warp), error) {
	switch {
	case op[0] == "shfl":
		return b.shuffle(op, operands)
	case strings.Join(op, ".") == "vote.sync.ballot.b32" && len(operands) == 3:
		return b.ballot(operands)
	case strings.Join(op, ".") == "redux.sync.or.b32" && len(operands) == 3:
		return b.union(operands)
	}
	return nil, nil
}

// shuffle compiles shfl.sync of b32, in which each lane reads another lane's register.
func (b *builder) shuffle(op, operands []string) (func(*warp), error) {
	if len(op) != 4 || op[1] != "sync" || len(operands) != 5 {
		return nil, errUnknown
	}
	to, predicate, _ := strings.Cut(operands[0], "|")
	p, err := b.setPredicate(predicate)
	if err != nil {
		return nil, err
	}
	r, err := b.allValues(append([]string{to}, operands[1:]...))
	if err != nil {
		return nil, err
	}
	if !slices.Contains([]string{"up", "bfly", "idx"}, op[2]) || op[3] != "b32" {
		return nil, errUnknown
	}
	// The operands are the distance or lane, and the segments' bounds.
	return func(w *warp) {
		var from [32]uint8
		inside := uint32(0)
		for l := range 32 {
			lane, is := sourceLane(op[2], l, w.r[r[2]][l], w.r[r[3]][l])
			from[l] = uint8(lane)
			inside |= one(is) << l
		}
		w.shuffle(r, p, &from, inside)
	}, nil
}

// sourceLane returns the lane that a lane takes its value from, itself if that would be outside of its segment.
func sourceLane(how string, lane int, by, bounds uint64) (from int, inside bool) {
	n, segment, clamp := int(by&31), int(bounds>>8&31), int(bounds&31)
	low, high := lane&segment, lane&segment|clamp&^segment
	switch how {
	case "up":
		from = lane - n
		inside = from >= high
	case "bfly":
		from = lane ^ n
		inside = from <= high
	default:
		from = low | n&^segment
		inside = from <= high
	}
	if !inside {
		return lane, false
	}
	return from, true
}

// shuffle exchanges values: r are the rows of the result, the value and, last, the mask.
func (w *warp) shuffle(r []int, p int, from *[32]uint8, inside uint32) {
	w.members(r[4])
	a, d := w.r[r[1]], &w.r[r[0]]
	if w.mask == all && uniform(&w.r[r[4]]) {
		for l := range d {
			d[l] = a[from[l]&31]
		}
	} else {
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			if named := uint32(w.r[r[4]][l]); named>>from[l]&1 == 0 {
				w.fail(l, "takes the value of lane %d, which the mask %08x does not name", from[l], named)
			}
			d[l] = a[from[l]&31]
		}
	}
	w.setLanes(p, inside)
}

// ballot compiles vote.sync.ballot, which gives each lane the predicates of all as bits.
func (b *builder) ballot(operands []string) (func(*warp), error) {
	p, err := b.predicate(operands[1])
	if err != nil {
		return nil, err
	}
	r, err := b.allValues([]string{operands[0], operands[2]})
	return func(w *warp) {
		w.members(r[1])
		votes := p.lanes(w) & w.mask
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			w.r[r[0]][l] = uint64(votes & uint32(w.r[r[1]][l]))
		}
	}, err
}

// union compiles redux.sync.or, which gives each lane the bits that any lane has.
func (b *builder) union(operands []string) (func(*warp), error) {
	r, err := b.allValues(operands)
	return func(w *warp) {
		w.members(r[2])
		a := w.r[r[1]]
		for m := w.mask; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			any := uint64(0)
			for n := uint32(w.r[r[2]][l]); n != 0; n &= n - 1 {
				any |= a[bits.TrailingZeros32(n)&31]
			}
			w.r[r[0]][l] = any
		}
	}, err
}
