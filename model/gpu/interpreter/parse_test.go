package interpreter

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"tagnet/model/engine/device"
)

// TestBrokenPTX loads PTX with a damaged line: it is refused or loaded, but never crashes.
func TestBrokenPTX(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(13, 14))
	for _, name := range []string{"floats", "integers", "vectors", "warps"} {
		lines := strings.Split(readPTX(t, name), "\n")
		refused := 0
		for range 200 {
			i := r.IntN(len(lines))
			whole := lines[i]
			from, to := r.IntN(len(whole)+1), r.IntN(len(whole)+1)
			switch r.IntN(3) {
			case 0:
				lines[i] = whole[:min(from, to)] + whole[max(from, to):]
			case 1:
				lines[i] = whole[:from] + ";"
			default:
				lines[i] = whole[:max(from, to)] + whole[min(from, to):]
			}
			func() {
				defer func() {
					if e := recover(); e != nil {
						t.Errorf("%s, %q: %v", name, lines[i], e)
					}
				}()
				if _, err := New().Load(strings.Join(lines, "\n")); err != nil {
					refused++
					if !errors.Is(err, device.ErrRefused) {
						t.Errorf("%s, %q: error %v", name, lines[i], err)
					}
				}
			}()
			lines[i] = whole
		}
		if refused < 40 {
			t.Errorf("%s: only %d of 200 were refused", name, refused)
		}
	}
}

// TestModule loads what stands outside of kernels, on several lines and with comments.
func TestModule(t *testing.T) {
	t.Parallel()
	d := New()
	ptx := `.version 8.4 // of PTX
.target sm_80
.address_size 64
/* two
   lines */
.const .align 4 .u32 table[3] = {7, 8, 0x9};
.global .align 8 .b8 counter[8];
.visible .global .align 4 .f32 half = 0f3F000000;
.shared .align 4 .b8 both[256];

.visible .entry first(
	.param .u64 first_param_0 // out
)
.maxntid 32, 1, 1
{
	.reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.u64 %rd1, [first_param_0];
	mov.u64 %rd2, table;
	ld.const.u32 %r1, [%rd2+8];
	ld.const.u32 %r2, [table+4];
	ld.global.u32 %r3, [half];
	mov.u32 %r4, %tid.x;
	shl.b32 %r5, %r4, 2;
	mov.u32 %r6, both;
	add.s32 %r6, %r6, %r5;
	st.shared.u32 [%r6], %r4;
	red.global.add.u64 [counter], 1;
	setp.ne.s32 %p1, %r4, 0;
	.reg .pred %p<2>;
	ret;
}
`
	if _, err := d.Load(ptx, "first"); err == nil {
		t.Error("a register was used before it was declared")
	}
	ptx = strings.Replace(ptx, "setp.ne.s32 %p1, %r4, 0;\n\t.reg .pred %p<2>;", ".reg .pred %p<2>; setp.ne.s32 %p1, %r4, 0; @%p1 ret; st.global.v2.u32 [%rd1], {%r1, %r2}; st.global.u32 [%rd1+8], %r3;", 1)
	kernels, err := d.Load(ptx+`
.visible .entry second(.param .u64 second_param_0)
{
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [second_param_0];
	ld.global.u64 %rd2, [counter];
	st.global.u64 [%rd1], %rd2;
	ret;
}`, "second", "first")
	if err != nil {
		t.Fatal(err)
	}
	out := cleared(t, d, 16)
	for range 2 {
		if err := d.Launch(kernels[1], 1, 32, out); err != nil {
			t.Fatal(err)
		}
	}
	if got := download[uint32](t, d, out, 3); got[0] != 9 || got[1] != 8 || got[2] != 0x3f000000 {
		t.Errorf("loaded %x", got)
	}
	if err := d.Launch(kernels[0], 1, 1, out); err != nil {
		t.Fatal(err)
	}
	if got := download[uint64](t, d, out, 1); got[0] != 64 {
		t.Errorf("counter %d, want 64", got[0])
	}
}
