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
	lines := strings.Split(readPTX(t, "update"), "\n")
	refused := 0
	for range 400 {
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
					t.Errorf("%q: %v", lines[i], e)
				}
			}()
			if _, err := New().Load(strings.Join(lines, "\n")); err != nil {
				refused++
				if !errors.Is(err, device.ErrRefused) {
					t.Errorf("%q: error %v", lines[i], err)
				}
			}
		}()
		lines[i] = whole
	}
	if refused < 80 {
		t.Errorf("only %d of 400 were refused", refused)
	}
}

// TestModule loads a module of two kernels, on several lines and with comments.
func TestModule(t *testing.T) {
	t.Parallel()
	const ptx = `.version 8.4 // of PTX
.target sm_80
.address_size 64
.visible .entry first(
	.param .u64 first_param_0, // out
	.param .u32 first_param_1
)
.maxntid 32, 1, 1
{
	.shared .align 4 .b8 before[4];
	.shared .align 4 .b8 both[256];
	.reg .b32 %r<9>; .reg .b64 %rd<9>;
	ld.param.u64 %rd1, [first_param_0];
	ld.param.u32 %r1, [first_param_1];
	mov.u32 %r4, %tid.x;
	shl.b32 %r5, %r4, 2;
	mov.u32 %r6, both;
	add.s32 %r6, %r6, %r5;
	st.shared.u32 [%r6], %r1;
	ld.shared.u32 %r2, [both];
	setp.ne.s32 %p1, %r4, 0;
	.reg .pred %p<2>;
	ret;
}
.visible .entry second()
{
	ret;
}
`
	d := New()
	if _, err := d.Load(ptx, "first"); err == nil {
		t.Error("a register was used before it was declared")
	}
	moved := strings.Replace(ptx, "setp.ne.s32 %p1, %r4, 0;\n\t.reg .pred %p<2>;",
		".reg .pred %p<2>; setp.ne.s32 %p1, %r4, 0; @%p1 ret; st.global.u32 [%rd1], %r2;", 1)
	moved = strings.Replace(moved, "ld.shared.u32 %r2, [both];", "bar.sync 0; ld.shared.u32 %r2, [both+4];", 1)
	kernels, err := d.Load(moved, "second", "first")
	if err != nil {
		t.Fatal(err)
	}
	out := cleared(t, d, 4)
	if err := d.Launch(kernels[1], 1, 32, out, int32(9)); err != nil {
		t.Fatal(err)
	}
	if got := download[uint32](t, d, out, 1); got[0] != 9 {
		t.Errorf("loaded %d, want 9", got[0])
	}
	if err := d.Launch(kernels[0], 1, 1); err != nil {
		t.Error(err)
	}
	for _, refused := range []string{".global .align 4 .b8 a[4];", ".const .u32 a = 7;", ".extern .shared .align 4 .b8 a[];", ".func f() { ret; }"} {
		if _, err := d.Load(refused + "\n" + ptx); !errors.Is(err, device.ErrRefused) || !strings.Contains(err.Error(), "only kernels are supported") {
			t.Errorf("%s: error %v", refused, err)
		}
	}
}
