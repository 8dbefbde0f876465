package interpreter

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"
)

// snippet is an instruction and what it computes. Its operands are r1, r2, r3 (32 bits), d1, d2, d3 (64 bits) or h1, h2,
// h3 (16 bits): the low bits of a, b and c. p1 holds where a is odd. The result is in r0, d0, h0 or p0.
type snippet struct {
	ptx string
	do  func(a, b, c uint64) uint64
}

// kernelOf returns PTX that runs a snippet for each thread's operands.
func kernelOf(ptx string) string {
	result := "cvt.u64.u32 %d20, %r0;"
	switch {
	case strings.Contains(ptx, "d0"):
		result = "mov.u64 %d20, %d0;"
	case strings.Contains(ptx, "h0"):
		result = "cvt.u64.u16 %d20, %h0;"
	case strings.Contains(ptx, "p0"):
		result = "selp.b64 %d20, 1, 0, %p0;"
	}
	for _, name := range []string{"r", "d", "h", "p"} {
		for i := range 13 {
			operand := fmt.Sprintf("%s%d", name, i)
			for _, before := range []string{" ", "!", "{", "|", "["} {
				ptx = strings.ReplaceAll(ptx, before+operand, before+"%"+operand)
			}
		}
	}
	return `.version 8.4
.target sm_80
.address_size 64
.visible .entry snippet(.param .u64 input, .param .u64 output)
{
	.reg .pred %p<10>;
	.reg .b16 %h<10>;
	.reg .b32 %r<20>;
	.reg .b64 %d<30>;
	ld.param.u64 %d10, [input];
	ld.param.u64 %d11, [output];
	mov.u32 %r10, %ctaid.x;
	mov.u32 %r11, %ntid.x;
	mov.u32 %r12, %tid.x;
	mad.lo.s32 %r13, %r10, %r11, %r12;
	mul.wide.u32 %d12, %r13, 24;
	add.s64 %d13, %d10, %d12;
	ld.global.u64 %d1, [%d13];
	ld.global.u64 %d2, [%d13+8];
	ld.global.u64 %d3, [%d13+16];
	cvt.u32.u64 %r1, %d1;
	cvt.u32.u64 %r2, %d2;
	cvt.u32.u64 %r3, %d3;
	cvt.u16.u64 %h1, %d1;
	cvt.u16.u64 %h2, %d2;
	cvt.u16.u64 %h3, %d3;
	and.b32 %r14, %r1, 1;
	setp.ne.s32 %p1, %r14, 0;
	` + ptx + `;
	` + result + `
	mul.wide.u32 %d14, %r13, 8;
	add.s64 %d15, %d11, %d14;
	st.global.u64 [%d15], %d20;
	ret;
}
`
}

func single(x float32) uint64 { return bits32(x) }
func double(x float64) uint64 { return math.Float64bits(x) }

func truth(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// clampTo returns an integer of a float as cards convert it.
func clampTo(x, least, greatest float64) *big.Int {
	n := new(big.Int)
	if x == x {
		big.NewFloat(min(max(x, least), greatest)).Int(n)
	}
	return n
}

var snippets = []snippet{
	{"add.s32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(a) + uint32(b)) }},
	{"add.s16 h0, h1, h2", func(a, b, _ uint64) uint64 { return uint64(uint16(a) + uint16(b)) }},
	{"add.s64 d0, d1, d2", func(a, b, _ uint64) uint64 { return a + b }},
	{"sub.s32 r0, r1, -5", func(a, _, _ uint64) uint64 { return uint64(uint32(a) + 5) }},
	{"sub.u64 d0, d1, d2", func(a, b, _ uint64) uint64 { return a - b }},
	{"mul.lo.s32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(a) * uint32(b)) }},
	{"mul.lo.s64 d0, d1, d2", func(a, b, _ uint64) uint64 { return a * b }},
	{"mul.hi.s32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(int64(int32(a)) * int64(int32(b)) >> 32)) }},
	{"mul.hi.u32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(a)) * uint64(uint32(b)) >> 32 }},
	{"mul.wide.s32 d0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(int64(int32(a)) * int64(int32(b))) }},
	{"mul.wide.u32 d0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(a)) * uint64(uint32(b)) }},
	{"mul.wide.s16 r0, h1, h2", func(a, b, _ uint64) uint64 { return uint64(uint32(int32(int16(a)) * int32(int16(b)))) }},
	{"mul.wide.u16 r0, h1, h2", func(a, b, _ uint64) uint64 { return uint64(uint32(uint16(a)) * uint32(uint16(b))) }},
	{"mad.lo.s32 r0, r1, r2, r3", func(a, b, c uint64) uint64 { return uint64(uint32(a)*uint32(b) + uint32(c)) }},
	{"mad.lo.s64 d0, d1, d2, d3", func(a, b, c uint64) uint64 { return a*b + c }},
	{"div.s32 r0, r1, r2", func(a, b, _ uint64) uint64 {
		if int32(b) == 0 {
			return math.MaxUint32
		}
		return uint64(uint32(int32(a) / int32(b)))
	}},
	{"div.u32 r0, r1, r2", func(a, b, _ uint64) uint64 {
		if uint32(b) == 0 {
			return math.MaxUint32
		}
		return uint64(uint32(a) / uint32(b))
	}},
	{"div.s16 h0, h1, h2", func(a, b, _ uint64) uint64 {
		if int16(b) == 0 {
			return math.MaxUint16
		}
		return uint64(uint16(int16(a) / int16(b)))
	}},
	{"div.u64 d0, d1, d2", func(a, b, _ uint64) uint64 {
		if b == 0 {
			return math.MaxUint64
		}
		return a / b
	}},
	{"rem.s64 d0, d1, d2", func(a, b, _ uint64) uint64 {
		if b == 0 {
			return a
		}
		return uint64(int64(a) % int64(b))
	}},
	{"rem.u32 r0, r1, r2", func(a, b, _ uint64) uint64 {
		if uint32(b) == 0 {
			return uint64(uint32(a))
		}
		return uint64(uint32(a) % uint32(b))
	}},
	{"shl.b32 r0, r1, r2", func(a, b, _ uint64) uint64 {
		if uint32(b) > 31 {
			return 0
		}
		return uint64(uint32(a) << uint32(b))
	}},
	{"shl.b16 h0, h1, r2", func(a, b, _ uint64) uint64 {
		if uint32(b) > 15 {
			return 0
		}
		return uint64(uint16(a) << uint32(b))
	}},
	{"shl.b64 d0, d1, r2", func(a, b, _ uint64) uint64 {
		if uint32(b) > 63 {
			return 0
		}
		return a << uint32(b)
	}},
	{"shr.u32 r0, r1, r2", func(a, b, _ uint64) uint64 {
		if uint32(b) > 31 {
			return 0
		}
		return uint64(uint32(a)) >> uint32(b)
	}},
	{"shr.s32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(int32(a) >> min(uint32(b), 31))) }},
	{"shr.s16 h0, h1, r2", func(a, b, _ uint64) uint64 { return uint64(uint16(int16(a) >> min(uint32(b), 15))) }},
	{"shr.s64 d0, d1, r2", func(a, b, _ uint64) uint64 { return uint64(int64(a) >> min(uint32(b), 63)) }},
	{"shr.b64 d0, d1, 33", func(a, _, _ uint64) uint64 { return a >> 33 }},
	{"and.b32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(a & b)) }},
	{"or.b64 d0, d1, d2", func(a, b, _ uint64) uint64 { return a | b }},
	{"xor.b16 h0, h1, h2", func(a, b, _ uint64) uint64 { return uint64(uint16(a ^ b)) }},
	{"not.b32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(^uint32(a)) }},
	{"neg.s32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(-uint32(a)) }},
	{"abs.s32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(uint32(max(int32(a), -int32(a)))) }},
	{"abs.s64 d0, d1", func(a, _, _ uint64) uint64 { return uint64(max(int64(a), -int64(a))) }},
	{"min.s32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(min(int32(a), int32(b)))) }},
	{"max.u32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(max(uint32(a), uint32(b))) }},
	{"max.s64 d0, d1, d2", func(a, b, _ uint64) uint64 { return uint64(max(int64(a), int64(b))) }},
	{"min.u16 h0, h1, h2", func(a, b, _ uint64) uint64 { return uint64(min(uint16(a), uint16(b))) }},
	{"sad.u32 r0, r1, r2, r3", func(a, b, c uint64) uint64 {
		return uint64(max(uint32(a), uint32(b)) - min(uint32(a), uint32(b)) + uint32(c))
	}},
	{"popc.b32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount32(uint32(a))) }},
	{"popc.b64 r0, d1", func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
	{"clz.b32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) }},
	{"clz.b64 r0, d1", func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a)) }},
	{"brev.b32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) }},
	{"brev.b64 d0, d1", func(a, _, _ uint64) uint64 { return bits.Reverse64(a) }},
	{"bfind.shiftamt.u32 r0, r1", func(a, _, _ uint64) uint64 {
		if uint32(a) == 0 {
			return math.MaxUint32
		}
		return uint64(bits.LeadingZeros32(uint32(a)))
	}},
	{"bfi.b32 r0, r1, r2, r3, 9", func(a, b, c uint64) uint64 {
		for i := range uint64(9) {
			if at := c&255 + i; at < 32 {
				b = b&^(1<<at) | a>>i&1<<at
			}
		}
		return uint64(uint32(b))
	}},
	{"shf.l.wrap.b32 r0, r1, r2, r3", func(a, b, c uint64) uint64 { return uint64(uint32((b<<32 | a&0xffffffff) << (c & 31) >> 32)) }},
	{"shf.r.clamp.b32 r0, r1, r2, r3", func(a, b, c uint64) uint64 {
		return uint64(uint32((b<<32 | a&0xffffffff) >> min(c&0xffffffff, 32)))
	}},
	{"prmt.b32 r0, r1, r2, 0x9c40", func(a, b, _ uint64) uint64 {
		sign := func(x uint64) uint64 { return uint64(byte(int8(x) >> 7)) }
		return a&255 | b&255<<8 | sign(b)<<16 | sign(a>>8)<<24
	}},
	{"selp.b32 r0, r2, r3, p1", func(a, b, c uint64) uint64 {
		if a&1 == 1 {
			return uint64(uint32(b))
		}
		return uint64(uint32(c))
	}},
	{"setp.lt.s32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(int32(a) < int32(b)) }},
	{"setp.ge.s32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(int32(a) >= int32(b)) }},
	{"setp.le.s64 p0, d1, d2", func(a, b, _ uint64) uint64 { return truth(int64(a) <= int64(b)) }},
	{"setp.ne.s16 p0, h1, h2", func(a, b, _ uint64) uint64 { return truth(int16(a) != int16(b)) }},
	{"setp.lt.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(f32(a) < f32(b)) }},
	{"setp.ne.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(f32(a) < f32(b) || f32(a) > f32(b)) }},
	{"setp.neu.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(f32(a) != f32(b)) }},
	{"setp.leu.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(!(f32(a) > f32(b))) }},
	{"and.pred p0, p1, !p1", func(_, _, _ uint64) uint64 { return 0 }},
	{"not.pred p0, p1", func(a, _, _ uint64) uint64 { return 1 - a&1 }},
	{"mov.pred p0, -1", func(_, _, _ uint64) uint64 { return 1 }},
	{"mov.b64 d0, {r1, r2}", func(a, b, _ uint64) uint64 { return a&0xffffffff | b<<32 }},
	{"mov.b64 {r4, r0}, d1", func(a, _, _ uint64) uint64 { return a >> 32 }},
	{"mov.b32 r0, {h1, h2}", func(a, b, _ uint64) uint64 { return a&0xffff | b&0xffff<<16 }},
	{"mov.u32 r0, -7", func(_, _, _ uint64) uint64 { return 0xfffffff9 }},
	{"mov.f32 r0, 0f3F800000", func(_, _, _ uint64) uint64 { return 0x3f800000 }},
	{"cvt.s32.s8 r0, r1", func(a, _, _ uint64) uint64 { return uint64(uint32(int8(a))) }},
	{"cvt.u32.u8 r0, r1", func(a, _, _ uint64) uint64 { return a & 255 }},
	{"cvt.s64.s32 d0, r1", func(a, _, _ uint64) uint64 { return uint64(int32(a)) }},
	{"cvt.s16.s32 h0, r1", func(a, _, _ uint64) uint64 { return a & 0xffff }},
	{"cvt.rn.f32.s32 r0, r1", func(a, _, _ uint64) uint64 { return single(float32(int32(a))) }},
	{"cvt.rn.f32.u64 r0, d1", func(a, _, _ uint64) uint64 {
		v, _ := new(big.Float).SetUint64(a).Float32()
		return single(v)
	}},
	{"cvt.rn.f64.s64 d0, d1", func(a, _, _ uint64) uint64 { return double(float64(int64(a))) }},
	{"cvt.f64.f32 d0, r1", func(a, _, _ uint64) uint64 { return double(float64(f32(a))) }},
	{"cvt.rn.f32.f64 r0, d1", func(a, _, _ uint64) uint64 { return single(float32(f64(a))) }},
	{"cvt.rni.f32.f32 r0, r1", func(a, _, _ uint64) uint64 { return single(float32(math.RoundToEven(float64(f32(a))))) }},
	{"cvt.rni.s32.f32 r0, r1", func(a, _, _ uint64) uint64 {
		return uint64(uint32(clampTo(math.RoundToEven(float64(f32(a))), math.MinInt32, math.MaxInt32).Int64()))
	}},
	{"cvt.rmi.u32.f32 r0, r1", func(a, _, _ uint64) uint64 { return clampTo(math.Floor(float64(f32(a))), 0, math.MaxUint32).Uint64() }},
	{"cvt.rzi.s64.f64 d0, d1", func(a, _, _ uint64) uint64 {
		n := clampTo(math.Trunc(f64(a)), -1<<63, 1<<63)
		if n.BitLen() == 64 && n.Sign() > 0 {
			return math.MaxInt64
		}
		return uint64(n.Int64())
	}},
	{"cvt.rzi.u16.f32 h0, r1", func(a, _, _ uint64) uint64 { return clampTo(math.Trunc(float64(f32(a))), 0, 65535).Uint64() }},
	{"cvt.sat.f32.f32 r0, r1", func(a, _, _ uint64) uint64 {
		if v := f32(a); v == v {
			return single(max(0, min(1, v)))
		}
		return 0
	}},
	{"add.rn.f32 r0, r1, r2", func(a, b, _ uint64) uint64 { return single(f32(a) + f32(b)) }},
	{"sub.rn.f32 r0, r1, r2", func(a, b, _ uint64) uint64 { return single(f32(a) - f32(b)) }},
	{"mul.rn.f32 r0, r1, r2", func(a, b, _ uint64) uint64 { return single(f32(a) * f32(b)) }},
	{"fma.rn.f32 r0, r1, r2, r3", func(a, b, c uint64) uint64 {
		return single(roundedOnce(float64(f32(a)), float64(f32(b)), float64(f32(c))))
	}},
	{"div.rn.f32 r0, r1, r2", func(a, b, _ uint64) uint64 { return single(f32(a) / f32(b)) }},
	{"rcp.rn.f32 r0, r1", func(a, _, _ uint64) uint64 { return single(1 / f32(a)) }},
	{"sqrt.rn.f32 r0, r1", func(a, _, _ uint64) uint64 { return single(float32(math.Sqrt(float64(f32(a))))) }},
	{"neg.f32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(uint32(a)) ^ 1<<31 }},
	{"abs.f32 r0, r1", func(a, _, _ uint64) uint64 { return a & math.MaxInt32 }},
	{"min.f32 r0, r1, r2", func(a, b, _ uint64) uint64 {
		switch x, y := f32(a), f32(b); {
		case x != x && y != y:
			return 0x7fffffff
		case x != x:
			return single(y)
		case y != y:
			return single(x)
		default:
			return single(min(x, y)) // Go orders -0 before 0, too
		}
	}},
	{"max.f32 r0, r1, r2", func(a, b, _ uint64) uint64 {
		switch x, y := f32(a), f32(b); {
		case x != x && y != y:
			return 0x7fffffff
		case x != x:
			return single(y)
		case y != y:
			return single(x)
		default:
			return single(max(x, y))
		}
	}},
	{"rcp.rn.f64 d0, d1", func(a, _, _ uint64) uint64 { return double(1 / f64(a)) }},
	{"setp.ltu.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(!(f32(a) >= f32(b))) }},
	{"setp.geu.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(!(f32(a) < f32(b))) }},
	{"setp.equ.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(!(f32(a) < f32(b) || f32(a) > f32(b))) }},
	{"setp.le.s32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(int32(a) <= int32(b)) }},
	{"setp.ne.b32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(uint32(a) != uint32(b)) }},
	{"xor.pred p0, p1, !p1", func(_, _, _ uint64) uint64 { return 1 }},
	{"cvt.rn.f64.u32 d0, r1", func(a, _, _ uint64) uint64 { return double(float64(uint32(a))) }},
	{"mov.u32 r0, %ntid.x", func(_, _, _ uint64) uint64 { return 128 }},
	{"ld.global.s8 r0, [%d13+1]", func(a, _, _ uint64) uint64 { return uint64(uint32(int8(a >> 8))) }},
	{"ld.global.s32 d0, [%d13+4]", func(a, _, _ uint64) uint64 { return uint64(int64(a) >> 32) }},
	{"ld.s32 d0, [%d13]", func(a, _, _ uint64) uint64 { return uint64(int32(a)) }},
	{"ld.global.u32 d0, [%d13]", func(a, _, _ uint64) uint64 { return uint64(uint32(a)) }},
	{".shared .b32 s[128]; mov.u32 r4, s; mad.lo.s32 r4, r12, 4, r4; st.shared.b32 [r4], r1; ld.shared.s32 d0, [r4]", func(a, _, _ uint64) uint64 { return uint64(int32(a)) }},
	{"ld.global.s16 d0, [%d13+2]", func(a, _, _ uint64) uint64 { return uint64(int16(a >> 16)) }},
	{"st.global.v4.u16 [%d13], {h2, h3, h2, h1}; ld.global.v2.b32 {r4, r0}, [%d13]", func(a, b, _ uint64) uint64 {
		return b&0xffff | a&0xffff<<16
	}},
	{"ld.global.u64 d4, [%d13+8]; mov.u64 d0, d4", func(_, b, _ uint64) uint64 { return b }},
	{"atom.global.add.u32 r0, [%d13], r2", func(a, _, _ uint64) uint64 { return uint64(uint32(a)) }},
	{"atom.global.add.u64 d4, [%d13], d2; ld.global.u64 d0, [%d13]", func(a, b, _ uint64) uint64 { return a + b }},
	{"red.global.or.b64 [%d13], d2; ld.global.u64 d0, [%d13]", func(a, b, _ uint64) uint64 { return a | b }},
	{"red.xor.b32 [%d13], r2; ld.volatile.global.u32 r0, [%d13]", func(a, b, _ uint64) uint64 { return uint64(uint32(a ^ b)) }},
	{"red.global.max.u64 [%d13], d2; ld.global.u64 d0, [%d13]", func(a, b, _ uint64) uint64 { return max(a, b) }},
	{"add.rn.f64 d0, d1, d2", func(a, b, _ uint64) uint64 { return double(f64(a) + f64(b)) }},
	{"mul.rn.f64 d0, d1, d2", func(a, b, _ uint64) uint64 { return double(f64(a) * f64(b)) }},
	{"sqrt.rn.f64 d0, d1", func(a, _, _ uint64) uint64 { return double(math.Sqrt(f64(a))) }},
}

// operands returns triples of values that are edges as integers, as float32 or as float64.
func operands() (triples []uint64) {
	var values []uint64
	for _, v := range edges {
		values = append(values, uint64(v))
	}
	for _, v := range edgeFloats {
		values = append(values, single(v)|0xabcd0000<<32, double(float64(v)))
	}
	values = append(values, 1<<63, 1<<63-1, 8, 40, 200)
	r := rand.New(rand.NewPCG(11, 12))
	pick := func() uint64 {
		if r.IntN(3) > 0 {
			return values[r.IntN(len(values))]
		}
		return r.Uint64() >> r.IntN(64)
	}
	for _, a := range values {
		for _, b := range values {
			if r.IntN(2) == 0 {
				triples = append(triples, a, b, pick())
			}
		}
	}
	for range 300 {
		x, y := single(float32(r.NormFloat64())), single(float32(r.NormFloat64()))
		triples = append(triples, x, y, single(float32(-float64(f32(x))*float64(f32(y)))))
	}
	// A sum just below the middle of two subnormal results, which a float64 rounds to that middle.
	const scale = 0x1p-75
	triples = append(triples, single(scale*(1+0x1p-23)), single(scale*(1-0x1p-23)), single(0x1p-127+0x1p-149))
	for len(triples)%(3*128) != 0 {
		triples = append(triples, pick())
	}
	return triples
}

func TestInstructions(t *testing.T) {
	t.Parallel()
	triples := operands()
	n := len(triples) / 3
	for _, s := range snippets {
		t.Run(s.ptx, func(t *testing.T) {
			t.Parallel()
			d := New()
			out := cleared(t, d, 8*n)
			if err := d.Launch(load(t, d, kernelOf(s.ptx), "snippet"), n/128, 128, upload(t, d, triples), out); err != nil {
				t.Fatal(err)
			}
			wrong := 0
			for i, got := range download[uint64](t, d, out, n) {
				a, b, c := triples[3*i], triples[3*i+1], triples[3*i+2]
				want := s.do(a, b, c)
				if nan := f64(want); strings.Contains(s.ptx, "f64 d0") && nan != nan && f64(got) != f64(got) {
					continue // any NaN
				}
				if got != want {
					if wrong++; wrong < 4 {
						t.Errorf("a %#x b %#x c %#x: %#x, want %#x", a, b, c, got, want)
					}
				}
			}
		})
	}
}

// TestDivergedInstructions runs them with half of the lanes, so that none takes the loop for whole warps.
func TestDivergedInstructions(t *testing.T) {
	t.Parallel()
	triples := operands()[:3*128]
	for _, s := range snippets {
		d := New()
		out := cleared(t, d, 8*128)
		text := kernelOf(s.ptx)
		from, to, _ := strings.Cut(text, "setp.ne.s32 %p1, %r14, 0;")
		text = from + "setp.ne.s32 %p1, %r14, 0; and.b32 %r15, %r12, 1; setp.eq.s32 %p9, %r15, 0; @%p9 ret;" + to
		if err := d.Launch(load(t, d, text, "snippet"), 1, 128, upload(t, d, triples), out); err != nil {
			t.Fatal(err)
		}
		for i, got := range download[uint64](t, d, out, 128) {
			want := uint64(0)
			if i%2 == 1 {
				want = s.do(triples[3*i], triples[3*i+1], triples[3*i+2])
			}
			if nan := f64(want); got != want && !(nan != nan && f64(got) != f64(got)) {
				t.Errorf("%s: thread %d: %#x, want %#x", s.ptx, i, got, want)
				break
			}
		}
	}
}
