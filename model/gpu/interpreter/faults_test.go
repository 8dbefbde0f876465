package interpreter

import (
	"errors"
	"strings"
	"testing"

	"tagnet/model/engine/device"
)

// faulty returns PTX of a kernel with parameters a and b, addresses in %d1 and %d2, the thread in %r1, the block in
// %r2, %d3 = a + 4 thread, and 256 bytes of shared memory.
func faulty(body string) string {
	return `.version 8.4
.target sm_80
.address_size 64
.visible .entry faulty(.param .u64 a, .param .u64 b)
{
	.reg .pred %p<10>;
	.reg .b32 %r<20>;
	.reg .b64 %d<20>;
	.shared .align 16 .b8 shared[256];
	ld.param.u64 %d1, [a];
	ld.param.u64 %d2, [b];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mul.wide.u32 %d4, %r1, 4;
	add.s64 %d3, %d1, %d4;
	mov.u32 %r3, shared;
	mad.lo.s32 %r4, %r1, 4, %r3;
	setp.lt.u32 %p1, %r1, 7;
	setp.lt.u32 %p2, %r1, 32;
	setp.eq.s32 %p3, %r2, 0;
	setp.eq.s32 %p4, %r1, 0;
	` + body + `
	ret;
}
`
}

// TestFaults runs 3 blocks of 64 threads with two buffers of 256 bytes, of which the first is written.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []faultCase{
		{"before a buffer", "ld.global.u32 %r5, [%d3+-4];", "which has 256"},
		{"behind a buffer", "ld.global.u32 %r5, [%d3+4];", "which has 256"},
		{"null", "mov.u64 %d5, 0; ld.global.u32 %r5, [%d5];", "no buffer"},
		{"not aligned", "ld.global.u32 %r5, [%d3+2];", "not aligned to 4"},
		{"vector not aligned", "ld.global.v2.u32 {%r5, %r6}, [%d1+4];", "not aligned to 8"},
		{"unwritten word", "ld.global.u32 %r5, [%d2];", "nothing wrote"},
		{"half written word", "@!%p3 ret; @!%p4 ret; st.global.u8 [%d2+1], %r1; ld.global.u32 %r5, [%d2];", "nothing wrote"},
		{"two blocks write", "@%p4 st.global.u32 [%d2], %r1;", "was written by block"},
		{"two threads write bytes", "@%p4 st.global.u8 [%d2], %r1;", "was written by block"},
		{"a block reads what another writes", "@!%p4 ret; @%p3 st.global.u32 [%d1], %r1; @!%p3 ld.global.u32 %r5, [%d1];", "block"},
		{"atomic and plain write", "@!%p4 ret; @%p3 st.global.u32 [%d1], %r1; @!%p3 red.or.b32 [%d1], 1;", "block"},
		{"atomic and plain read", "@!%p4 ret; @%p3 ld.global.u32 %r5, [%d1]; @!%p3 red.or.b32 [%d1], 1;", "block"},
		{"behind shared memory", "st.shared.u32 [%r4+4], %r1;", "of shared memory, which has 256"},
		{"load behind shared memory", "ld.shared.u32 %r5, [%r4+4];", "shared memory"},
		{"load of shared memory not aligned", "ld.shared.u32 %r5, [%r4+1];", "not aligned"},
		{"unwritten shared memory", "ld.shared.u32 %r5, [%r4];", "nothing wrote"},
		{"threads write one shared word", "st.shared.u32 [shared], %r1;", "races"},
		{"read without a barrier", "st.shared.u32 [%r4], %r1; sub.s32 %r5, 252, %r4; @!%p2 ld.shared.u32 %r6, [%r5];", "which wrote it"},
		{"write after a read without a barrier", "st.shared.u32 [%r4], %r1; bar.sync 0; sub.s32 %r5, 252, %r4; @%p2 ld.shared.u32 %r6, [%r5]; @!%p2 " +
			"st.shared.u32 [%r4], %r1;", "which read it"},
		{"barrier of a warp only", "st.shared.u32 [%r4], %r1; bar.warp.sync 0xffffffff; sub.s32 %r5, 252, %r4; @!%p2 ld.shared.u32 %r6, [%r5];", "races"},
		{"barrier in some lanes", "@%p1 bar.sync 0;", "a barrier in lanes 0000007f"},
		{"barrier that a warp misses", "@%p2 bra L; bar.sync 0; L: ret;", "ended before"},
		{"shuffle of lanes elsewhere", "@%p1 bra L; shfl.sync.bfly.b32 %r5|%p9, %r1, 1, 31, -1; L: ret;", "are here"},
		{"shuffle of ended lanes", "@%p1 ret; shfl.sync.bfly.b32 %r5|%p9, %r1, 1, 31, -1;", "are here"},
		{"shuffle without itself", "shfl.sync.bfly.b32 %r5|%p9, %r1, 1, 31, 0xff;", "does not name"},
		{"shuffle from outside of the mask", "@!%p1 ret; shfl.sync.bfly.b32 %r5|%p9, %r1, 1, 31, 0x7f;", "does not name"},
		{"masks that differ", "setp.eq.s32 %p5, %r1, 3; selp.b32 %r5, 0x7fffffff, -1, %p5; vote.sync.ballot.b32 %r6, %p1, %r5;", "has mask"},
		{"vote of lanes elsewhere", "@%p1 vote.sync.ballot.b32 %r5, %p1, -1;", "are here"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := range uint64(6) { // whichever block is the first
				c.check(t, New(Seed(seed), Workers(1)))
			}
		})
	}
}

type faultCase struct{ name, body, want string }

func (c faultCase) check(t *testing.T, d *Device) {
	t.Helper()
	k := load(t, d, faulty(c.body), "faulty")
	b, err := d.Allocate(256)
	if err != nil {
		t.Fatal(err)
	}
	err = d.Launch(k, 3, 64, cleared(t, d, 256), b)
	var fault *Fault
	if !errors.As(err, &fault) {
		t.Fatalf("error %v, want a fault with %q", err, c.want)
	}
	if !strings.Contains(fault.What, c.want) {
		t.Errorf("fault %v, want %q", fault, c.want)
	}
	if fault.Line < 22 || !strings.Contains(c.body, strings.Join(strings.Fields(fault.Instruction), " ")) && fault.Instruction != "ret" {
		t.Errorf("line %d, instruction %q", fault.Line, fault.Instruction)
	}
}

// TestNoFaults runs what resembles faults, but is allowed.
func TestNoFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body string }{
		{"blocks write bytes of one word", "cvt.u64.u32 %d5, %r2; add.s64 %d5, %d5, %d2; @%p4 st.global.u8 [%d5], %r1;"},
		{"blocks read and write bytes of one word", "@!%p4 ret; @%p3 st.global.u8 [%d1], %r1; @!%p3 ld.global.u8 %r5, [%d1+1];"},
		{"blocks set bits of one word", "red.or.b32 [%d1], 1;"},
		{"blocks read one word", "ld.global.nc.f32 %r5, [%d1];"},
		{"a block reads what it wrote", "@!%p3 ret; st.global.u32 [%d3], %r1; ld.global.u32 %r5, [%d3];"},
		{"a warp's barrier orders its lanes", "st.shared.u32 [%r4], %r1; bar.warp.sync -1; xor.b32 %r5, %r4, 4; ld.shared.u32 %r6, [%r5]; bar.warp.sync " +
			"-1; st.shared.u32 [%r4], %r6;"},
		{"barriers order threads",
			"st.shared.u32 [%r4], %r1; bar.sync 0; sub.s32 %r5, 252, %r4; ld.shared.u32 %r6, [%r5]; bar.sync 0; st.shared.u32 [%r5], %r1;"},
		{"shuffle of those that are here", "@%p1 bra L; shfl.sync.bfly.b32 %r5|%p9, %r1, 0, 31, %r6; L: ret;"},
		{"generic addresses", "cvta.to.global.u64 %d5, %d1; ld.u32 %r6, [%d1]; ld.global.u32 %r6, [%d5];"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			body := c.body
			if strings.Contains(body, "%r6; L: ret") {
				body = "vote.sync.ballot.b32 %r6, !%p1, -1; " + body
			}
			d := New()
			k := load(t, d, faulty(body), "faulty")
			if err := d.Launch(k, 3, 64, cleared(t, d, 256), cleared(t, d, 256)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFreedBuffer(t *testing.T) {
	t.Parallel()
	d := New()
	k := load(t, d, faulty("ld.global.u32 %r5, [%d3];"), "faulty")
	a, b := cleared(t, d, 256), cleared(t, d, 256)
	if err := d.Launch(k, 1, 64, a, b); err != nil {
		t.Fatal(err)
	}
	if err := d.Free(a); err != nil {
		t.Fatal(err)
	}
	var fault *Fault
	if err := d.Launch(k, 1, 64, a, b); !errors.As(err, &fault) || !strings.Contains(fault.What, "was freed") {
		t.Errorf("error %v, want a fault", err)
	}
	if err := d.CopyOut(make([]byte, 4), a); err == nil {
		t.Error("copied from a freed buffer")
	}
	if err := d.Free(a); err == nil {
		t.Error("freed a buffer twice")
	}
	if err := d.Free(b.Offset(4)); err == nil {
		t.Error("freed a part of a buffer")
	}
}

func TestRefusedPTX(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"ex2.approx.ftz.f32 %r5, %r1;":             "not exact",
		"div.full.f32 %r5, %r1, %r1;":              "not exact",
		"rsqrt.approx.f32 %r5, %r1;":               "not exact",
		"add.rz.f32 %r5, %r1, %r1;":                "unknown instruction",
		"frobnicate.u32 %r5, %r1;":                 "unknown instruction",
		"add.cc.s32 %r5, %r1, %r1;":                "unknown instruction",
		"mul.hi.s64 %d5, %d1, %d1;":                "unknown instruction",
		"add.rn.ftz.f32 %r5, %r1, %r1;":            "unknown instruction",
		"cvt.rz.f32.s32 %r5, %r1;":                 "unknown instruction",
		"set.lt.u32.s32 %r5, %r1, %r1;":            "unknown instruction",
		"trap;":                                    "unknown instruction",
		"call.uni (%r5), f, (%r1);":                "unknown instruction",
		"bar.sync 1;":                              "unknown instruction",
		"ld.local.u32 %r5, [%d1];":                 "unknown instruction",
		"red.global.add.u32 [%d1], %r1;":           "unknown instruction",
		"{ mov.u32 %r5, %r1; }":                    "scopes are not supported",
		"mov.u32 %r5, %laneid;":                    "unknown operand %laneid",
		"add.s32 %r5, %r1;":                        "unknown instruction",
		"add.s32 %r5, %r1, %x9;":                   "unknown operand %x9",
		"add.s32 %r5, %r1, %r99;":                  "unknown operand %r99",
		"add.s32 %r5, %r1, %p1;":                   "is a predicate",
		"bra NOWHERE;":                             "no label NOWHERE",
		"ld.param.u32 %r5, [a];":                   "no parameter",
		"ld.global.v2.u32 {%r5, %r6, %r7}, [%d1];": "3 operands",
	} {
		_, err := New().Load(faulty(body), "faulty")
		if !errors.Is(err, device.ErrRefused) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "line ") {
			t.Errorf("%s: error %v, want %q", body, err, want)
		}
	}
	if _, err := New().Load(faulty(""), "another"); !errors.Is(err, device.ErrRefused) {
		t.Errorf("error %v of an unknown kernel", err)
	}
}

func TestLaunchChecksItsArguments(t *testing.T) {
	t.Parallel()
	d := New()
	a := cleared(t, d, 256)
	k := load(t, d, `.version 8.4
.target sm_80
.address_size 64
.visible .entry typed(.param .u32 n, .param .f32 x, .param .u64 p)
.maxntid 64, 1, 1
{
	ret;
}`, "typed")
	if err := d.Launch(k, 1, 64, int32(1), float32(2), a); err != nil {
		t.Error(err)
	}
	if err := d.Launch(k, 1, 64, uint32(1), float32(2), uint64(3)); err != nil {
		t.Error(err)
	}
	for name, arguments := range map[string][]any{
		"too few":             {int32(1), float32(2)},
		"too many":            {int32(1), float32(2), a, a},
		"float for int":       {float32(1), float32(2), a},
		"int for float":       {int32(1), int32(2), a},
		"int for pointer":     {int32(1), float32(2), int32(3)},
		"pointer for int":     {a, float32(2), a},
		"type of no register": {1, float32(2), a},
	} {
		if err := d.Launch(k, 1, 64, arguments...); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, threads := range []int{0, 65} {
		if err := d.Launch(k, 1, threads, int32(1), float32(2), a); err == nil {
			t.Errorf("%d threads: no error", threads)
		}
	}
	if err := d.Launch(k, 0, 64, int32(1), float32(2), a); err == nil {
		t.Error("no blocks: no error")
	}
	if err := d.Launch(k+1, 1, 64); err == nil {
		t.Error("unknown kernel: no error")
	}
}
