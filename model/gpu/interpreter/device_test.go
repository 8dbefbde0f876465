package interpreter

import (
	"errors"
	"slices"
	"testing"

	"tagnet/model/engine/device"
)

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	d := New(Memory(1000))
	if p := d.Properties(); p.Memory != 1000 || p.Name != "PTX interpreter" {
		t.Errorf("properties %+v", p)
	}
	a, err := d.Allocate(600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Allocate(401); !errors.Is(err, device.ErrMemory) {
		t.Errorf("error %v, want %v", err, device.ErrMemory)
	}
	if _, err := d.Allocate(400); err != nil {
		t.Error(err)
	}
	if err := d.Free(a); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Allocate(600); err != nil {
		t.Errorf("after a buffer was freed: %v", err)
	}
}

func TestCopies(t *testing.T) {
	t.Parallel()
	d := New()
	p, err := d.Allocate(16)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4)
	if err := d.CopyOut(got, p); err == nil {
		t.Error("copied bytes that nothing wrote")
	}
	if err := d.CopyIn(p.Offset(3), []byte{1, 2}); err != nil {
		t.Fatal(err)
	}
	if err := d.Clear(p.Offset(5), 2); err != nil {
		t.Fatal(err)
	}
	if err := d.CopyOut(got, p.Offset(3)); err != nil || !slices.Equal(got, []byte{1, 2, 0, 0}) {
		t.Errorf("copied %v, error %v", got, err)
	}
	for name, err := range map[string]error{
		"in":            d.CopyIn(p.Offset(14), []byte{1, 2, 3}),
		"out":           d.CopyOut(got, p.Offset(13)),
		"clear":         d.Clear(p, 17),
		"clear nothing": d.Clear(p, -1),
		"before":        d.CopyIn(p.Offset(-1), []byte{1}),
		"null":          d.CopyIn(0, []byte{1}),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestBlocksRunInAnOrderOfTheSeed finds which block is the first of each launch, by a fault in all.
func TestBlocksRunInAnOrderOfTheSeed(t *testing.T) {
	t.Parallel()
	first := func(seed uint64) (blocks []int) {
		d := New(Seed(seed))
		k := load(t, d, faulty("ld.global.u32 %r5, [%d1+-4];"), "faulty")
		for range 4 {
			var fault *Fault
			if err := d.Launch(k, 50, 64, cleared(t, d, 4), cleared(t, d, 4)); !errors.As(err, &fault) {
				t.Fatal(err)
			}
			blocks = append(blocks, fault.Block)
		}
		return blocks
	}
	one := first(1)
	if again := first(1); !slices.Equal(one, again) {
		t.Errorf("one seed, two orders: %v and %v", one, again)
	}
	if other := first(2); slices.Equal(one, other) || slices.Max(one) == slices.Min(one) {
		t.Errorf("the order is always the same: %v and %v", one, other)
	}
}

func TestWorkersFindTheSameFault(t *testing.T) {
	t.Parallel()
	find := func(workers int) string {
		d := New(Seed(5), Workers(workers))
		k := load(t, d, faulty("and.b32 %r5, %r2, 3; setp.eq.s32 %p5, %r5, 1; @%p5 ld.global.u32 %r5, [%d1+-4];"), "faulty")
		return d.Launch(k, 100, 64, cleared(t, d, 4), cleared(t, d, 4)).Error()
	}
	want := find(1)
	for range 20 {
		if got := find(4); got != want {
			t.Errorf("fault %q, want %q", got, want)
		}
	}
}

// TestRegistersAreNotKept runs blocks that read a register before they write it.
func TestRegistersAreNotKept(t *testing.T) {
	t.Parallel()
	for _, write := range []string{"mov.u32 %r9, %r2;", "@%p4 ld.global.v2.u32 {%r8, %r9}, [%d1];", "shfl.sync.idx.b32 %r9|%p9, %r2, 0, 31, -1;"} {
		d := New(Workers(1))
		k := load(t, d, faulty("mul.wide.u32 %d5, %r2, 4; add.s64 %d6, %d2, %d5; @%p4 st.global.u32 [%d6], %r9; "+write), "faulty")
		out := cleared(t, d, 40)
		if err := d.Launch(k, 10, 64, cleared(t, d, 8), out); err != nil {
			t.Fatal(err)
		}
		if got := download[uint32](t, d, out, 10); !slices.Equal(got, slices.Repeat([]uint32{uint32(unwritten[0])}, 10)) {
			t.Errorf("%s: registers begin as %x", write, got)
		}
	}
}

func TestPartOfAWarp(t *testing.T) {
	t.Parallel()
	d := New()
	k := load(t, d, faulty("st.global.u32 [%d3], %r1; bar.sync 0; bar.warp.sync 0x7;"), "faulty")
	if err := d.Launch(k, 1, 3, cleared(t, d, 12), cleared(t, d, 4)); err != nil {
		t.Error(err)
	}
}

// TestResultsReplaceAddresses loads into the register that holds the address.
func TestResultsReplaceAddresses(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{
		"shared":      "mov.u32 %r5, 77; @%p4 st.shared.u32 [shared+4], %r5; bar.sync 0; mov.u32 %r5, shared; ld.shared.u32 %r5, [%r5+4];",
		"global":      "ld.global.u32 %d1, [%d1]; cvt.u32.u64 %r5, %d1;",
		"pair":        "ld.global.v2.u32 {%d1, %r6}, [%d1]; cvt.u32.u64 %r5, %d1;",
		"some lanes":  "mov.u32 %r5, 77; @%p1 bra L; ld.global.u32 %d1, [%d1]; cvt.u32.u64 %r5, %d1; L: mov.u32 %r6, 0;",
		"shuffle":     "mov.u32 %r5, 77; shfl.sync.bfly.b32 %r5|%p9, %r5, 1, 31, -1;",
		"shuffle idx": "add.s32 %r5, %r1, 71; and.b32 %r6, %r1, 32; sub.s32 %r5, %r5, %r6; mov.u32 %r7, 6; shfl.sync.idx.b32 %r5|%p9, %r5, %r7, 31, -1;",
	} {
		d := New()
		k := load(t, d, faulty(body+" add.s64 %d6, %d2, %d4; st.global.u32 [%d6], %r5;"), "faulty")
		out := cleared(t, d, 256)
		if err := d.Launch(k, 1, 64, upload(t, d, []uint32{77, 78}), out); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, v := range download[uint32](t, d, out, 64) {
			if v != 77 {
				t.Errorf("%s: thread %d has %d", name, i, v)
				break
			}
		}
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	d := New(Memory(256))
	k := load(t, d, faulty("bar.sync 0;"), "faulty")
	a := cleared(t, d, 256)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := d.Launch(k, 1, 64, a, a); err == nil {
		t.Error("launched a kernel of a closed device")
	}
	if err := d.CopyIn(a, []byte{1}); err == nil {
		t.Error("copied to a closed device")
	}
	if _, err := d.Allocate(256); err != nil {
		t.Errorf("the memory is still used: %v", err)
	}
}

// TestLaunchesDoNotConflict lets blocks access what other blocks accessed in an earlier launch.
func TestLaunchesDoNotConflict(t *testing.T) {
	t.Parallel()
	d := New()
	own := load(t, d, faulty("@!%p4 ret; mul.wide.u32 %d5, %r2, 4; add.s64 %d6, %d1, %d5; st.global.u32 [%d6], %r2; ld.global.u32 %r5, [%d6];"), "faulty")
	mirrored := load(t, d, faulty("@!%p4 ret; sub.s32 %r6, 9, %r2; mul.wide.u32 %d5, %r6, 4; add.s64 %d6, %d1, %d5; ld.global.u32 %r5, [%d6]; add.s32 %r5, "+
		"%r5, %r2; st.global.u32 [%d6], %r5;"), "faulty")
	a := cleared(t, d, 40)
	for range 3 {
		for _, k := range []device.Kernel{own, mirrored} {
			if err := d.Launch(k, 10, 64, a, a); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := download[uint32](t, d, a, 10); !slices.Equal(got, slices.Repeat([]uint32{9}, 10)) {
		t.Errorf("values %v, want 9", got)
	}
}
