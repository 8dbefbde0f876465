package interpreter

import (
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"strings"
	"testing"

	"tagnet/model/engine/device"
)

func load(t testing.TB, d *Device, ptx, name string) device.Kernel {
	t.Helper()
	kernels, err := d.Load(ptx, name)
	if err != nil {
		t.Fatal(err)
	}
	return kernels[0]
}

// cleared returns memory that is 0.
func cleared(t testing.TB, d *Device, bytes int) device.Pointer {
	t.Helper()
	p, err := d.Allocate(int64(bytes))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Clear(p, int64(bytes)); err != nil {
		t.Fatal(err)
	}
	return p
}

func download[T any](t testing.TB, d *Device, p device.Pointer, n int) []T {
	t.Helper()
	values := make([]T, n)
	if err := d.CopyOut(device.Bytes(values), p); err != nil {
		t.Fatal(err)
	}
	return values
}

var edges = []int32{0, 1, -1, 2, 3, 7, 31, 32, 33, 63, 64, 255, 256, 65535, 65536, -32768, math.MaxInt32, math.MinInt32, math.MinInt32 + 1, 0x12345678,
	-0x12345678}

var edgeFloats = []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-45, -1e-40, 1.1754944e-38, 3.4028235e38, -3.4028235e38,
	2147483648, 4294967296, 1e19, -1e19,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 8388609, 16777217, 0.1}

// roundedOnce returns x*y + z as a float32.
func roundedOnce(x, y, z float64) float32 {
	if inexact := math.FMA(x, y, z); inexact == 0 || inexact != inexact || math.IsInf(inexact, 0) {
		return float32(inexact)
	}
	exact := new(big.Float).SetPrec(1000)
	exact.Mul(big.NewFloat(x), big.NewFloat(y)).Add(exact, big.NewFloat(z))
	rounded, _ := exact.Float32()
	return rounded
}

// snippet is an instruction and what it computes. Its operands are r1, r2, r3 (32 bits), d1, d2, d3 (64 bits) or h1,
// h2, h3 (16 bits): the low bits of a, b and c. p1 holds where a is odd. The result is in r0, d0, h0 or p0.
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
	{"add.s64 d0, d1, d2", func(a, b, _ uint64) uint64 { return a + b }},
	{"sub.s32 r0, r1, -5", func(a, _, _ uint64) uint64 { return uint64(uint32(a) + 5) }},
	{"mul.lo.s32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(a) * uint32(b)) }},
	{"mul.lo.s64 d0, d1, d2", func(a, b, _ uint64) uint64 { return a * b }},
	{"mul.hi.s32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(int64(int32(a)) * int64(int32(b)) >> 32)) }},
	{"mul.wide.s32 d0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(int64(int32(a)) * int64(int32(b))) }},
	{"mul.wide.u32 d0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(a)) * uint64(uint32(b)) }},
	{"mul.wide.u16 r0, h1, h2", func(a, b, _ uint64) uint64 { return uint64(uint32(uint16(a)) * uint32(uint16(b))) }},
	{"mad.lo.s32 r0, r1, r2, r3", func(a, b, c uint64) uint64 { return uint64(uint32(a)*uint32(b) + uint32(c)) }},
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
	{"shr.s64 d0, d1, r2", func(a, b, _ uint64) uint64 { return uint64(int64(a) >> min(uint32(b), 63)) }},
	{"shr.b64 d0, d1, 33", func(a, _, _ uint64) uint64 { return a >> 33 }},
	{"and.b32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(a & b)) }},
	{"or.b64 d0, d1, d2", func(a, b, _ uint64) uint64 { return a | b }},
	{"not.b32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(^uint32(a)) }},
	{"neg.s32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(-uint32(a)) }},
	{"min.s32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(uint32(min(int32(a), int32(b)))) }},
	{"max.u32 r0, r1, r2", func(a, b, _ uint64) uint64 { return uint64(max(uint32(a), uint32(b))) }},
	{"popc.b32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount32(uint32(a))) }},
	{"brev.b32 r0, r1", func(a, _, _ uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) }},
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
	{"setp.neu.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(f32(a) != f32(b)) }},
	{"setp.leu.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(!(f32(a) > f32(b))) }},
	{"and.pred p0, p1, !p1", func(_, _, _ uint64) uint64 { return 0 }},
	{"not.pred p0, p1", func(a, _, _ uint64) uint64 { return 1 - a&1 }},
	{"mov.pred p0, -1", func(_, _, _ uint64) uint64 { return 1 }},
	{"mov.b64 d0, {r1, r2}", func(a, b, _ uint64) uint64 { return a&0xffffffff | b<<32 }},
	{"mov.b64 {r4, r0}, d1", func(a, _, _ uint64) uint64 { return a >> 32 }},
	{"mov.u32 r0, -7", func(_, _, _ uint64) uint64 { return 0xfffffff9 }},
	{"mov.f32 r0, 0f3F800000", func(_, _, _ uint64) uint64 { return 0x3f800000 }},
	{"cvt.s64.s32 d0, r1", func(a, _, _ uint64) uint64 { return uint64(int32(a)) }},
	{"cvt.rn.f32.s32 r0, r1", func(a, _, _ uint64) uint64 { return single(float32(int32(a))) }},
	{"cvt.rni.f32.f32 r0, r1", func(a, _, _ uint64) uint64 { return single(float32(math.RoundToEven(float64(f32(a))))) }},
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
	{"setp.geu.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(!(f32(a) < f32(b))) }},
	{"setp.le.s32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(int32(a) <= int32(b)) }},
	{"setp.ne.b32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(uint32(a) != uint32(b)) }},
	{"xor.pred p0, p1, !p1", func(_, _, _ uint64) uint64 { return 1 }},
	{"mov.u32 r0, %ntid.x", func(_, _, _ uint64) uint64 { return 128 }},
	{"ld.global.s32 d0, [%d13+4]", func(a, _, _ uint64) uint64 { return uint64(int64(a) >> 32) }},
	{"ld.s32 d0, [%d13]", func(a, _, _ uint64) uint64 { return uint64(int32(a)) }},
	{"ld.global.u32 d0, [%d13]", func(a, _, _ uint64) uint64 { return uint64(uint32(a)) }},
	{".shared .align 4 .b8 s[512]; mov.u32 r4, s; mad.lo.s32 r4, r12, 4, r4; st.shared.b32 [r4], r1; ld.shared.s32 d0, [r4]",
		func(a, _, _ uint64) uint64 { return uint64(int32(a)) }},
	{"ld.global.u64 d4, [%d13+8]; mov.u64 d0, d4", func(_, b, _ uint64) uint64 { return b }},
	{"shr.u64 d0, d1, r2", func(a, b, _ uint64) uint64 { return a >> min(uint32(b), 64) }},
	{"setp.lt.u16 p0, h1, h2", func(a, b, _ uint64) uint64 { return truth(uint16(a) < uint16(b)) }},
	{"setp.gtu.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(!(f32(a) <= f32(b))) }},
	{"setp.nan.f32 p0, r1, r2", func(a, b, _ uint64) uint64 { return truth(f32(a) != f32(a) || f32(b) != f32(b)) }},
	{"cvt.rzi.s32.f32 r0, r1", func(a, _, _ uint64) uint64 {
		return uint64(uint32(clampTo(math.Trunc(float64(f32(a))), math.MinInt32, math.MaxInt32).Int64()))
	}},
	{"st.global.v2.u32 [%d13], {r2, r3}; ld.global.v2.u32 {r4, r0}, [%d13]", func(_, _, c uint64) uint64 { return uint64(uint32(c)) }},
	{".shared .align 16 .b8 s[2048]; mov.u32 r4, s; mad.lo.s32 r4, r12, 16, r4; st.shared.v4.u32 [r4], {r3, r2, r1, r3}; ld.shared.v2.u32 {r5, r0}, [r4]",
		func(_, b, _ uint64) uint64 {
			return uint64(uint32(b))
		}},
	{"red.or.b32 [%d13], r2; ld.global.u32 r0, [%d13]", func(a, b, _ uint64) uint64 { return uint64(uint32(a | b)) }},
	{"st.global.u8 [%d13], r2; ld.global.u64 d0, [%d13]", func(a, b, _ uint64) uint64 { return a&^255 | b&255 }},
}

// operands returns triples of values that are edges as integers or as float32.
func operands() (triples []uint64) {
	var values []uint64
	for _, v := range edges {
		values = append(values, uint64(v))
	}
	for _, v := range edgeFloats {
		values = append(values, single(v)|0xabcd0000<<32)
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
			if got != want {
				t.Errorf("%s: thread %d: %#x, want %#x", s.ptx, i, got, want)
				break
			}
		}
	}
}

// TestExchanges compares what the lanes of two warps do together with Go.
func TestExchanges(t *testing.T) {
	t.Parallel()
	x := make([]uint32, 64)
	for i := range x {
		x[i] = 1 << (i % 32) * uint32(i%5)
	}
	for body, want := range map[string]func(warp []uint32, lane int) uint32{
		"shfl.sync.bfly.b32 %r6|%p5, %r5, 5, 31, -1;":    func(w []uint32, l int) uint32 { return w[l^5] },
		"shfl.sync.idx.b32 %r6|%p5, %r5, %r7, 31, -1;":   func(w []uint32, l int) uint32 { return w[l&3] },
		"shfl.sync.idx.b32 %r6|%p5, %r5, 1, 0x1c03, -1;": func(w []uint32, l int) uint32 { return w[l&28|1] },
		"shfl.sync.bfly.b32 %r6|%p5, %r5, 16, 0x100f, -1; selp.b32 %r6, 1, 0, %p5;": func(_ []uint32, l int) uint32 {
			return one(l >= 16) // whose partner is in the segment
		},
		"shfl.sync.up.b32 %r6|%p5, %r5, 7, 0, -1;": func(w []uint32, l int) uint32 {
			if l < 7 {
				return w[l]
			}
			return w[l-7]
		},
		"setp.gt.u32 %p5, %r5, 9; vote.sync.ballot.b32 %r6, %p5, -1;": func(w []uint32, _ int) (votes uint32) {
			for l, v := range w {
				votes |= one(v > 9) << l
			}
			return votes
		},
		"and.b32 %r8, %r1, 31; setp.lt.u32 %p6, %r8, 7; @%p6 bra L; redux.sync.or.b32 %r6, %r5, 0xffffff80; L:": func(w []uint32, l int) (union uint32) {
			if l < 7 {
				return 77
			}
			for _, v := range w[7:] {
				union |= v
			}
			return union
		},
	} {
		d := New()
		k := load(t, d, faulty("ld.global.u32 %r5, [%d3]; mov.u32 %r6, 77; and.b32 %r7, %r1, 3;"+body+" add.s64 %d6, %d2, %d4; st.global.u32 [%d6], %r6;"),
			"faulty")
		out := cleared(t, d, 256)
		if err := d.Launch(k, 1, 64, upload(t, d, x), out); err != nil {
			t.Fatal(err)
		}
		for i, got := range download[uint32](t, d, out, 64) {
			if want := want(x[i&32:i&32+32], i&31); got != want {
				t.Errorf("%s: thread %d has %#x, want %#x", body, i, got, want)
			}
		}
	}
}
