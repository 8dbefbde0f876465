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
	end := ";"
	if strings.HasPrefix(ptx, "{") {
		end = ""
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
	` + ptx + end + `
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
	{"add.sat.s32 r0, r1, r2", func(a, b, _ uint64) uint64 {
		return uint64(uint32(max(math.MinInt32, min(math.MaxInt32, int64(int32(a))+int64(int32(b))))))
	}},
	{"sub.sat.s32 r0, r1, r2", func(a, b, _ uint64) uint64 {
		return uint64(uint32(max(math.MinInt32, min(math.MaxInt32, int64(int32(a))-int64(int32(b))))))
	}},
	{"sub.s32 r0, r1, -5", func(a, _, _ uint64) uint64 { return uint64(uint32(a) + 5) }},
	{"sub.u64 d0, d1, d2", func(a, b, _ uint64) uint64 { return a - b }},
	{"mul.lo.s32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(a) * uint32(b)) }},
	{"mul.lo.s64 d0, d1, d2", func(a, b, _ uint64) uint64 { return a * b }},
	{"mul.hi.s32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(int64(int32(a)) * int64(int32(b)) >> 32)) }},
	{"mul.hi.u32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(a)) * uint64(uint32(b)) >> 32 }},
	{"mul.hi.u64 d0, d1, d2", func(a, b, _ uint64) uint64 { h, _ := bits.Mul64(a, b); return h }},
	{"mul.hi.s64 d0, d1, d2", func(a, b, _ uint64) uint64 {
		n := new(big.Int).Mul(big.NewInt(int64(a)), big.NewInt(int64(b)))
		return uint64(n.Rsh(n, 64).Int64())
	}},
	{"mul.wide.s32 d0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(int64(int32(a)) * int64(int32(b))) }},
	{"mul.wide.u32 d0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(a)) * uint64(uint32(b)) }},
	{"mul.wide.s16 r0, h1, h2", func(a, b, _ uint64) uint64 { return uint64(uint32(int32(int16(a)) * int32(int16(b)))) }},
	{"mul.wide.u16 r0, h1, h2", func(a, b, _ uint64) uint64 { return uint64(uint32(uint16(a)) * uint32(uint16(b))) }},
	{"mad.lo.s32 r0, r1, r2, r3", func(a, b, c uint64) uint64 { return uint64(uint32(a)*uint32(b) + uint32(c)) }},
	{"mad.hi.u32 r0, r1, r2, r3", func(a, b, c uint64) uint64 {
		return uint64(uint32(uint64(uint32(a))*uint64(uint32(b))>>32) + uint32(c))
	}},
	{"mad.wide.s32 d0, r1, r2, d3", func(a, b, c uint64) uint64 { return uint64(int64(int32(a))*int64(int32(b))) + c }},
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
	{"cnot.b32 r0, r1", func(a, _, _ uint64) uint64 { return truth(uint32(a) == 0) }},
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
	{"bfind.u32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(uint32(bits.Len32(uint32(a)) - 1)) }},
	{"bfind.s32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(uint32(bits.Len32(uint32(a)^uint32(int32(a)>>31)) - 1)) }},
	{"bfind.shiftamt.u32 r0, r1", func(a, _, _ uint64) uint64 {
		if uint32(a) == 0 {
			return math.MaxUint32
		}
		return uint64(bits.LeadingZeros32(uint32(a)))
	}},
	{"bfe.u32 r0, r1, r2, r3", func(a, b, c uint64) uint64 { return bitByBit(a, b, c, 32, false) }},
	{"bfe.s32 r0, r1, r2, r3", func(a, b, c uint64) uint64 { return bitByBit(a, b, c, 32, true) }},
	{"bfe.u64 d0, d1, r2, r3", func(a, b, c uint64) uint64 { return bitByBit(a, b, c, 64, false) }},
	{"bfe.s64 d0, d1, r2, r3", func(a, b, c uint64) uint64 { return bitByBit(a, b, c, 64, true) }},
	{"bfi.b32 r0, r1, r2, r3, 9", func(a, b, c uint64) uint64 {
		for i := range uint64(9) {
			if at := c&255 + i; at < 32 {
				b = b&^(1<<at) | a>>i&1<<at
			}
		}
		return uint64(uint32(b))
	}},
	{"lop3.b32 r0, r1, r2, r3, 0x96", func(a, b, c uint64) uint64 { return uint64(uint32(a ^ b ^ c)) }},
	{"lop3.b32 r0, r1, r2, r3, 0xe2", func(a, b, c uint64) uint64 { return uint64(uint32(a&b | ^b&c)) }},
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
	{"slct.b32.s32 r0, r1, r2, r3", func(a, b, c uint64) uint64 {
		if int32(c) >= 0 {
			return uint64(uint32(a))
		}
		return uint64(uint32(b))
	}},
	{"setp.lt.s32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(int32(a) < int32(b)) }},
	{"setp.ge.s32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(int32(a) >= int32(b)) }},
	{"setp.hs.u32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(uint32(a) >= uint32(b)) }},
	{"setp.le.s64 p0, d1, d2", func(a, b, _ uint64) uint64 { return truth(int64(a) <= int64(b)) }},
	{"setp.ne.s16 p0, h1, h2", func(a, b, _ uint64) uint64 { return truth(int16(a) != int16(b)) }},
	{"setp.gt.and.u32 p0, r2, r3, !p1", func(a, b, c uint64) uint64 { return truth(uint32(b) > uint32(c) && a&1 == 0) }},
	{"setp.eq.or.s32 p2|p0, r2, r3, p1", func(a, b, c uint64) uint64 { return truth(uint32(b) != uint32(c) || a&1 == 1) }},
	{"set.lt.u32.s32 r0, r1, r2", func(a, b, _ uint64) uint64 { return truth(int32(a) < int32(b)) * math.MaxUint32 }},
	{"set.gt.f32.f32 r0, r1, r2", func(a, b, _ uint64) uint64 { return truth(f32(a) > f32(b)) * 0x3f800000 }},
	{"setp.lt.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(f32(a) < f32(b)) }},
	{"setp.ne.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(f32(a) < f32(b) || f32(a) > f32(b)) }},
	{"setp.neu.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(f32(a) != f32(b)) }},
	{"setp.leu.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(!(f32(a) > f32(b))) }},
	{"setp.num.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(f32(a) == f32(a) && f32(b) == f32(b)) }},
	{"setp.nan.f64 p0, d1, d2", func(a, b, _ uint64) uint64 { return truth(f64(a) != f64(a) || f64(b) != f64(b)) }},
	{"setp.gtu.f64 p0, d1, d2", func(a, b, _ uint64) uint64 { return truth(!(f64(a) <= f64(b))) }},
	{"and.pred p0, p1, !p1", func(_, _, _ uint64) uint64 { return 0 }},
	{"not.pred p0, p1", func(a, _, _ uint64) uint64 { return 1 - a&1 }},
	{"mov.pred p0, -1", func(_, _, _ uint64) uint64 { return 1 }},
	{"mov.b64 d0, {r1, r2}", func(a, b, _ uint64) uint64 { return a&0xffffffff | b<<32 }},
	{"mov.b64 {r4, r0}, d1", func(a, _, _ uint64) uint64 { return a >> 32 }},
	{"mov.b32 r0, {h1, h2}", func(a, b, _ uint64) uint64 { return a&0xffff | b&0xffff<<16 }},
	{"mov.u32 r0, -7", func(_, _, _ uint64) uint64 { return 0xfffffff9 }},
	{"mov.f32 r0, 0f3F800000", func(_, _, _ uint64) uint64 { return 0x3f800000 }},
	{"mov.u32 r0, %laneid", nil},

	{"cvt.s32.s8 r0, r1", func(a, _, _ uint64) uint64 { return uint64(uint32(int8(a))) }},
	{"cvt.u32.u8 r0, r1", func(a, _, _ uint64) uint64 { return a & 255 }},
	{"cvt.s64.s32 d0, r1", func(a, _, _ uint64) uint64 { return uint64(int32(a)) }},
	{"cvt.s16.s32 h0, r1", func(a, _, _ uint64) uint64 { return a & 0xffff }},
	{"cvt.sat.s16.s32 h0, r1", func(a, _, _ uint64) uint64 { return uint64(uint16(max(-32768, min(32767, int32(a))))) }},
	{"cvt.sat.u8.s32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(max(0, min(255, int32(a)))) }},
	{"cvt.sat.s32.u64 r0, d1", func(a, _, _ uint64) uint64 { return min(math.MaxInt32, a) }},
	{"cvt.rn.f32.s32 r0, r1", func(a, _, _ uint64) uint64 { return single(float32(int32(a))) }},
	{"cvt.rn.f32.u64 r0, d1", func(a, _, _ uint64) uint64 {
		v, _ := new(big.Float).SetUint64(a).Float32()
		return single(v)
	}},
	{"cvt.rn.f64.s64 d0, d1", func(a, _, _ uint64) uint64 { return double(float64(int64(a))) }},
	{"cvt.f64.f32 d0, r1", func(a, _, _ uint64) uint64 { return double(float64(f32(a))) }},
	{"cvt.rn.f32.f64 r0, d1", func(a, _, _ uint64) uint64 { return single(float32(f64(a))) }},
	{"cvt.rz.f32.s32 r0, r1", func(a, _, _ uint64) uint64 { return directed(float64(int32(a)), big.ToZero) }},
	{"cvt.rp.f32.u32 r0, r1", func(a, _, _ uint64) uint64 { return directed(float64(uint32(a)), big.ToPositiveInf) }},
	{"cvt.rm.f32.f64 r0, d1", func(a, _, _ uint64) uint64 { return directed(f64(a), big.ToNegativeInf) }},
	{"cvt.rz.f32.f64 r0, d1", func(a, _, _ uint64) uint64 { return directed(f64(a), big.ToZero) }},
	{"cvt.rni.f32.f32 r0, r1", func(a, _, _ uint64) uint64 { return single(float32(math.RoundToEven(float64(f32(a))))) }},
	{"cvt.rpi.f64.f64 d0, d1", func(a, _, _ uint64) uint64 { return double(math.Ceil(f64(a))) }},
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
	{"cvt.ftz.f32.f32 r0, r1", func(a, _, _ uint64) uint64 { return single(f32(flushed(a))) }},

	{"add.f32 r0, r1, r2", func(a, b, _ uint64) uint64 { return single(f32(a) + f32(b)) }},
	{"add.ftz.f32 r0, r1, r2", func(a, b, _ uint64) uint64 { return flushed(single(f32(flushed(a)) + f32(flushed(b)))) }},
	{"add.sat.f32 r0, r1, r2", func(a, b, _ uint64) uint64 {
		if v := f32(a) + f32(b); v == v {
			return single(max(0, min(1, v)))
		}
		return 0
	}},
	{"neg.ftz.f32 r0, r1", func(a, _, _ uint64) uint64 { return flushed(uint64(uint32(a))) ^ 1<<31 }},
	{"fma.rn.ftz.f32 r0, r1, r2, r3", func(a, b, c uint64) uint64 {
		return flushed(single(roundedOnce(float64(f32(flushed(a))), float64(f32(flushed(b))), float64(f32(flushed(c))))))
	}},
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
	{"copysign.f32 r0, r1, r2", func(a, b, _ uint64) uint64 { return a&(1<<31) | b&math.MaxInt32 }},
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
	{"testp.subnormal.f32 p0, r1", func(a, _, _ uint64) uint64 { return truth(a&0x7f800000 == 0 && a&0x7fffff != 0) }},
	{"testp.finite.f32 p0, r1", func(a, _, _ uint64) uint64 {
		return truth(f32(a) == f32(a) && !math.IsInf(float64(f32(a)), 0))
	}},
	{"testp.infinite.f32 p0, r1", func(a, _, _ uint64) uint64 { return truth(math.IsInf(float64(f32(a)), 0)) }},
	{"testp.number.f64 p0, d1", func(a, _, _ uint64) uint64 { return truth(f64(a) == f64(a)) }},
	{"testp.notanumber.f64 p0, d1", func(a, _, _ uint64) uint64 { return truth(f64(a) != f64(a)) }},
	{"testp.normal.f32 p0, r1", func(a, _, _ uint64) uint64 { return truth(a&0x7f800000 != 0 && a&0x7f800000 != 0x7f800000) }},
	{"neg.f64 d0, d1", func(a, _, _ uint64) uint64 { return a ^ 1<<63 }},
	{"abs.f64 d0, d1", func(a, _, _ uint64) uint64 { return a << 1 >> 1 }},
	{"sub.f64 d0, d1, d2", func(a, b, _ uint64) uint64 { return double(f64(a) - f64(b)) }},
	{"rcp.rn.f64 d0, d1", func(a, _, _ uint64) uint64 { return double(1 / f64(a)) }},
	{"min.f64 d0, d1, d2", func(a, b, _ uint64) uint64 {
		if f64(a) != f64(a) {
			return b
		} else if f64(b) != f64(b) {
			return a
		}
		return double(min(f64(a), f64(b)))
	}},
	{"max.f64 d0, d1, d2", func(a, b, _ uint64) uint64 {
		if f64(a) != f64(a) {
			return b
		} else if f64(b) != f64(b) {
			return a
		}
		return double(max(f64(a), f64(b)))
	}},
	{"setp.lo.u32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(uint32(a) < uint32(b)) }},
	{"setp.ls.u64 p0, d1, d2", func(a, b, _ uint64) uint64 { return truth(a <= b) }},
	{"setp.hi.u16 p0, h1, h2", func(a, b, _ uint64) uint64 { return truth(uint16(a) > uint16(b)) }},
	{"setp.ltu.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(!(f32(a) >= f32(b))) }},
	{"setp.geu.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(!(f32(a) < f32(b))) }},
	{"setp.equ.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(!(f32(a) < f32(b) || f32(a) > f32(b))) }},
	{"setp.gt.ftz.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(f32(flushed(a)) > f32(flushed(b))) }},
	{"setp.le.s32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(int32(a) <= int32(b)) }},
	{"setp.ne.b32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(uint32(a) != uint32(b)) }},
	{"set.eq.and.u32.u32 r0, r2, r3, p1", func(a, b, c uint64) uint64 {
		return truth(uint32(b) == uint32(c) && a&1 == 1) * math.MaxUint32
	}},
	{"slct.b32.f32 r0, r1, r2, r3", func(a, b, c uint64) uint64 {
		if f32(c) >= 0 {
			return uint64(uint32(a))
		}
		return uint64(uint32(b))
	}},
	{"xor.pred p0, p1, !p1", func(_, _, _ uint64) uint64 { return 1 }},
	{"cvt.rn.f64.u32 d0, r1", func(a, _, _ uint64) uint64 { return double(float64(uint32(a))) }},
	{"mov.u32 r0, %ntid.x", func(_, _, _ uint64) uint64 { return 128 }},
	{"mov.u32 r0, %tid.y", func(_, _, _ uint64) uint64 { return 0 }},
	{"mov.u32 r0, %nctaid.z", func(_, _, _ uint64) uint64 { return 1 }},
	{"mov.u32 r0, %nwarpid", func(_, _, _ uint64) uint64 { return 4 }},
	{"mov.u32 r4, %lanemask_lt; popc.b32 r0, r4", nil},
	{"mov.u32 r4, %lanemask_le; popc.b32 r5, r4; sub.s32 r0, r5, 1", nil},
	{"mov.u32 r4, %lanemask_eq; bfind.u32 r0, r4", nil},
	{"mov.u32 r4, %lanemask_ge; popc.b32 r5, r4; sub.s32 r0, 32, r5", nil},
	{"mov.u32 r4, %lanemask_gt; popc.b32 r5, r4; sub.s32 r0, 31, r5", nil},
	{"mov.u32 r4, %warpid; mad.lo.s32 r5, r4, 32, %laneid; and.b32 r0, r5, 31", nil},
	{"mov.u32 r0, WARP_SZ", func(_, _, _ uint64) uint64 { return 32 }},

	{"ld.global.s8 r0, [%d13+1]", func(a, _, _ uint64) uint64 { return uint64(uint32(int8(a >> 8))) }},
	{"ld.global.s32 d0, [%d13+4]", func(a, _, _ uint64) uint64 { return uint64(int64(a) >> 32) }},
	{"ld.s32 d0, [%d13]", func(a, _, _ uint64) uint64 { return uint64(int32(a)) }},
	{"ld.global.u32 d0, [%d13]", func(a, _, _ uint64) uint64 { return uint64(uint32(a)) }},
	{"{ .shared .b32 s[128]; mov.u32 r4, s; mad.lo.s32 r4, r12, 4, r4; st.shared.b32 [r4], r1; ld.shared.s32 d0, [r4]; }", func(a, _, _ uint64) uint64 { return uint64(int32(a)) }},
	{"ld.global.s16 d0, [%d13+2]", func(a, _, _ uint64) uint64 { return uint64(int16(a >> 16)) }},
	{"st.global.v4.u16 [%d13], {h2, h3, h2, h1}; ld.global.v2.b32 {r4, r0}, [%d13]", func(a, b, _ uint64) uint64 {
		return b&0xffff | a&0xffff<<16
	}},
	{"ld.global.u64 d4, [%d13+8]; mov.u64 d0, d4", func(_, b, _ uint64) uint64 { return b }},
	{"atom.global.add.u32 r0, [%d13], r2", func(a, _, _ uint64) uint64 { return uint64(uint32(a)) }},
	{"atom.global.add.u64 d4, [%d13], d2; ld.global.u64 d0, [%d13]", func(a, b, _ uint64) uint64 { return a + b }},
	{"red.relaxed.gpu.global.and.b32 [%d13], r2; ld.global.u32 r0, [%d13]", func(a, b, _ uint64) uint64 { return uint64(uint32(a & b)) }},
	{"red.global.or.b64 [%d13], d2; ld.global.u64 d0, [%d13]", func(a, b, _ uint64) uint64 { return a | b }},
	{"red.xor.b32 [%d13], r2; ld.volatile.global.u32 r0, [%d13]", func(a, b, _ uint64) uint64 { return uint64(uint32(a ^ b)) }},
	{"red.global.min.s32 [%d13], r2; ld.global.u32 r0, [%d13]", func(a, b, _ uint64) uint64 { return uint64(uint32(min(int32(a), int32(b)))) }},
	{"red.global.max.u64 [%d13], d2; ld.global.u64 d0, [%d13]", func(a, b, _ uint64) uint64 { return max(a, b) }},
	{"atom.global.exch.b32 r4, [%d13], r2; ld.global.u32 r5, [%d13]; xor.b32 r0, r4, r5", func(a, b, _ uint64) uint64 { return uint64(uint32(a ^ b)) }},
	{"atom.global.cas.b32 r4, [%d13], r2, r3; ld.global.u32 r0, [%d13]", func(a, b, c uint64) uint64 {
		if uint32(a) == uint32(b) {
			return uint64(uint32(c))
		}
		return uint64(uint32(a))
	}},
	{"atom.global.cas.b64 d4, [%d13], d1, d3; ld.global.u64 d0, [%d13]", func(_, _, c uint64) uint64 { return c }},
	{"atom.global.inc.u32 r4, [%d13], r2; ld.global.u32 r0, [%d13]", func(a, b, _ uint64) uint64 {
		if uint32(a) >= uint32(b) {
			return 0
		}
		return uint64(uint32(a) + 1)
	}},
	{"atom.global.dec.u32 r4, [%d13], r2; ld.global.u32 r0, [%d13]", func(a, b, _ uint64) uint64 {
		if uint32(a) == 0 || uint32(a) > uint32(b) {
			return uint64(uint32(b))
		}
		return uint64(uint32(a) - 1)
	}},
	{"{ .reg .b32 low; and.b32 low, r1, 3; T: .branchtargets A, B, C, B; brx.idx low, T; A: mov.u32 r0, 10; bra.uni E; B: mov.u32 r0, 11; bra.uni E; C: mov.u32 r0, 12; E: and.b32 low, low, 1; }", func(a, _, _ uint64) uint64 {
		return []uint64{10, 11, 12, 11}[a&3]
	}},
	{"add.f64 d0, d1, d2", func(a, b, _ uint64) uint64 { return double(f64(a) + f64(b)) }},
	{"mul.rn.f64 d0, d1, d2", func(a, b, _ uint64) uint64 { return double(f64(a) * f64(b)) }},
	{"fma.rn.f64 d0, d1, d2, d3", func(a, b, c uint64) uint64 { return double(math.FMA(f64(a), f64(b), f64(c))) }},
	{"div.rn.f64 d0, d1, d2", func(a, b, _ uint64) uint64 { return double(f64(a) / f64(b)) }},
	{"sqrt.rn.f64 d0, d1", func(a, _, _ uint64) uint64 { return double(math.Sqrt(f64(a))) }},
}

// directed rounds to a multiple of the last bit that a float32 of this size has.
func directed(x float64, mode big.RoundingMode) uint64 {
	if x != x || x == 0 || math.IsInf(x, 0) {
		return single(float32(x))
	}
	_, exponent := math.Frexp(x)
	unit := math.Ldexp(1, max(exponent-24, -149))
	n := x / unit // exact, except where x is tiny
	switch up := math.Ceil(n); {
	case mode == big.ToZero:
		n = math.Trunc(n)
	case mode == big.ToPositiveInf:
		n = up
	default:
		n = math.Floor(n)
		if x < 0 && n == 0 {
			n = -1
		}
	}
	if v := n * unit; math.Abs(v) <= math.MaxFloat32 {
		return single(float32(v))
	} else if mode == big.ToZero || mode == big.ToNegativeInf && v > 0 {
		return single(float32(math.Copysign(math.MaxFloat32, v)))
	} else {
		return single(float32(v))
	}
}

// bitByBit extracts a field.
func bitByBit(a, b, c uint64, size uint64, signed bool) (field uint64) {
	at, n := b&255, c&255
	for i := range size {
		from := at + i
		switch {
		case i < n && from < size:
			field |= a >> from & 1 << i
		case signed && n > 0:
			field |= a >> min(at+n-1, size-1) & 1 << i
		}
	}
	return field
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
				want := uint64(i % 32)
				if s.do != nil {
					want = s.do(a, b, c)
				}
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
			want := uint64(i % 32)
			if s.do != nil {
				want = s.do(triples[3*i], triples[3*i+1], triples[3*i+2])
			}
			if i%2 == 0 {
				want = 0
			}
			if nan := f64(want); got != want && !(nan != nan && f64(got) != f64(got)) {
				t.Errorf("%s: thread %d: %#x, want %#x", s.ptx, i, got, want)
				break
			}
		}
	}
}
