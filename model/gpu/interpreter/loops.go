package interpreter

import "math"

// hot returns the closure of an instruction that runs a loop without function calls while all 32 lanes execute. slow
// serves fewer lanes, and instructions without such a loop.
func hot(name string, r []int, slow func(*warp)) func(*warp) {
	if slow == nil {
		return nil
	}
	loop := hotLoops[name]
	if loop == nil {
		return slow
	}
	if len(r) == 3 {
		r = append(r[:3:3], r[2]) // for two operands
	}
	return func(w *warp) {
		if w.mask != all {
			slow(w)
			return
		}
		loop(&w.r[r[0]], &w.r[r[1]], &w.r[r[2]], &w.r[r[3]])
	}
}

var hotLoops = map[string]func(d, a, b, c *[32]uint64){
	"fma.rn.f32": func(d, a, b, c *[32]uint64) {
		for l := range d {
			p := float64(f32(a[l])) * float64(f32(b[l]))
			s := p + float64(f32(c[l]))
			// A second rounding is wrong only in the middle between two results, or below the normal ones.
			if v := math.Float64bits(s); v&(1<<29-1) == 1<<28 || v<<1 < 2*minNormal32 || s != s {
				d[l] = bits32(fma32(f32(a[l]), f32(b[l]), f32(c[l])))
			} else {
				d[l] = uint64(math.Float32bits(float32(s)))
			}
		}
	},
	"add.f32": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = bits32(f32(a[l]) + f32(b[l]))
		}
	},
	"sub.f32": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = bits32(f32(a[l]) - f32(b[l]))
		}
	},
	"mul.f32": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = bits32(f32(a[l]) * f32(b[l]))
		}
	},
	"max.f32": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			switch x, y := f32(a[l]), f32(b[l]); {
			case x > y:
				d[l] = a[l]
			case x < y:
				d[l] = b[l]
			default:
				d[l] = larger32(a[l], b[l])
			}
		}
	},
	"add": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = a[l] + b[l]
		}
	},
	"sub": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = a[l] - b[l]
		}
	},
	"mul.lo": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = a[l] * b[l]
		}
	},
	"mad.lo": func(d, a, b, c *[32]uint64) {
		for l := range d {
			d[l] = a[l]*b[l] + c[l]
		}
	},
	"mul.wide.s32": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = uint64(int64(int32(a[l])) * int64(int32(b[l])))
		}
	},
	"mul.wide.u32": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = uint64(uint32(a[l])) * uint64(uint32(b[l]))
		}
	},
	"shl": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = a[l] << uint32(b[l])
		}
	},
	"shr.u32": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = uint64(uint32(a[l]) >> uint32(b[l]))
		}
	},
	"shr.s32": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = uint64(int32(a[l]) >> uint32(b[l]))
		}
	},
	"and": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = a[l] & b[l]
		}
	},
	"or": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = a[l] | b[l]
		}
	},
	"xor": func(d, a, b, _ *[32]uint64) {
		for l := range d {
			d[l] = a[l] ^ b[l]
		}
	},
}

// minNormal32 is the least normal float32 as the bits of a float64.
const minNormal32 = (1023 - 126) << 52

// hotCompare returns loops that collect the lanes for which a comparison of whole numbers of 32 bits holds. All lanes
// are compared, whichever execute.
func hotCompare(how, t string) func(a, b *[32]uint64) uint32 {
	switch {
	case how == "lt" && t == "s32":
		return less
	case how == "gt" && t == "s32":
		return func(a, b *[32]uint64) uint32 { return less(b, a) }
	case how == "le" && t == "s32":
		return func(a, b *[32]uint64) uint32 { return ^less(b, a) }
	case how == "ge" && t == "s32":
		return func(a, b *[32]uint64) uint32 { return ^less(a, b) }
	case how == "eq" && (t == "s32" || t == "u32" || t == "b32"):
		return equal
	case how == "ne" && (t == "s32" || t == "u32" || t == "b32"):
		return func(a, b *[32]uint64) uint32 { return ^equal(a, b) }
	}
	return nil
}

func less(a, b *[32]uint64) (lanes uint32) {
	for l := range a {
		lanes |= one(int32(a[l]) < int32(b[l])) << l
	}
	return lanes
}

func equal(a, b *[32]uint64) (lanes uint32) {
	for l := range a {
		lanes |= one(uint32(a[l]) == uint32(b[l])) << l
	}
	return lanes
}

func one(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
