package interpreter

import (
	"slices"
	"testing"
)

func TestClone(t *testing.T) {
	t.Parallel()
	d := New()
	p, err := d.Allocate(4)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.CopyIn(p.Offset(1), []byte{7}); err != nil {
		t.Fatal(err)
	}
	c := d.Clone()
	if err := c.CopyIn(p, []byte{1, 2}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		of            *Device
		data, written []byte
	}{{d, []byte{0, 7, 0, 0}, []byte{0, 1, 0, 0}}, {c, []byte{1, 2, 0, 0}, []byte{1, 1, 0, 0}}} {
		data, written, err := test.of.Buffer(p)
		if err != nil || !slices.Equal(data, test.data) || !slices.Equal(written, test.written) {
			t.Errorf("data %v, written %v, error %v; want %v and %v", data, written, err, test.data, test.written)
		}
	}
	if _, _, err := d.Buffer(p.Offset(1)); err == nil {
		t.Error("a buffer within a buffer")
	}
	if err := c.Free(p); err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.Buffer(p); err != nil {
		t.Errorf("freed with the clone's: %v", err)
	}
}
