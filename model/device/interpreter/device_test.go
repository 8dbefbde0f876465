package interpreter

import (
	"errors"
	"slices"
	"testing"

	"tagnet/model/device"
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

// turns is PTX of a kernel that notes which block runs when.
var turns = faulty("@!%p4 ret; atom.global.add.u32 %r5, [%d1], 1; mul.wide.u32 %d5, %r2, 4; add.s64 %d6, %d2, %d5; st.global.u32 [%d6], %r5;")

func TestBlocksRunInAnOrderOfTheSeed(t *testing.T) {
	t.Parallel()
	order := func(seed uint64) (first, second []uint32) {
		d := New(Seed(seed), Workers(1))
		k := load(t, d, turns, "faulty")
		for _, to := range []*[]uint32{&first, &second} {
			out := cleared(t, d, 4*50)
			if err := d.Launch(k, 50, 64, cleared(t, d, 4), out); err != nil {
				t.Fatal(err)
			}
			*to = download[uint32](t, d, out, 50)
		}
		return first, second
	}
	a, b := order(1)
	c, e := order(1)
	f, _ := order(2)
	if !slices.Equal(a, c) || !slices.Equal(b, e) {
		t.Error("one seed, two orders")
	}
	if slices.Equal(a, b) || slices.Equal(a, f) {
		t.Error("the order is always the same")
	}
	slices.Sort(a)
	for i, turn := range a {
		if turn != uint32(i) {
			t.Fatalf("turns %v", a)
		}
	}
}

func TestWorkersFindTheSameFault(t *testing.T) {
	t.Parallel()
	find := func(workers int) string {
		d := New(Seed(5), Workers(workers))
		k := load(t, d, faulty("and.b32 %r5, %r2, 3; setp.eq.s32 %p5, %r5, 1; @%p5 trap;"), "faulty")
		return d.Launch(k, 100, 64, cleared(t, d, 4), cleared(t, d, 4)).Error()
	}
	want := find(1)
	for range 20 {
		if got := find(4); got != want {
			t.Errorf("fault %q, want %q", got, want)
		}
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	d := New()
	k := load(t, d, faulty("bar.sync 0;"), "faulty")
	if err := d.Launch(k, 3, 64, cleared(t, d, 4), cleared(t, d, 4)); err != nil {
		t.Fatal(err)
	}
	if want := int64(3 * 2 * 14); d.Steps() != want {
		t.Errorf("%d steps, want %d", d.Steps(), want)
	}
}

// TestRegistersAreNotKept runs blocks that read a register before they write it.
func TestRegistersAreNotKept(t *testing.T) {
	t.Parallel()
	d := New(Workers(1))
	k := load(t, d, faulty("@!%p4 ret; mul.wide.u32 %d5, %r2, 4; add.s64 %d6, %d2, %d5; st.global.u32 [%d6], %r9; mov.u32 %r9, %r2;"), "faulty")
	out := cleared(t, d, 40)
	if err := d.Launch(k, 10, 64, cleared(t, d, 4), out); err != nil {
		t.Fatal(err)
	}
	if got := download[uint32](t, d, out, 10); !slices.Equal(got, slices.Repeat([]uint32{got[0]}, 10)) || got[0] == 0 {
		t.Errorf("registers begin as %x", got)
	}
}

func TestMarks(t *testing.T) {
	t.Parallel()
	d := New()
	a, _ := d.Mark()
	b, _ := d.Mark()
	if ms, err := d.Elapsed(a, b); err != nil || ms < 0 || ms > 60000 {
		t.Errorf("%v milliseconds, error %v", ms, err)
	}
	if _, err := d.Elapsed(a, b+1); err == nil {
		t.Error("no error for an unknown mark")
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
