package interpreter

import (
	"archive/zip"
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"tagnet/model/engine/device"
)

// upload copies values to a new buffer.
func upload[T any](t testing.TB, d *Device, values []T) device.Pointer {
	t.Helper()
	p, err := d.Allocate(int64(len(device.Bytes(values))))
	if err != nil {
		t.Fatal(err)
	}
	if err := d.CopyIn(p, device.Bytes(values)); err != nil {
		t.Fatal(err)
	}
	return p
}

const width, dim = 416, 32

// updateLayer is the input of the kernel in testdata/update.cu: [n, 416] features, a layer norm, a residual.
type updateLayer struct {
	n                                              int
	features, weight, bias, scale, shift, residual []float32
}

func randomLayer(n int) *updateLayer {
	r := rand.New(rand.NewPCG(1, 2))
	floats := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = float32(r.NormFloat64())
		}
		return x
	}
	return &updateLayer{n, floats(n * width), floats(width * dim), floats(dim), floats(dim), floats(dim), floats(n * dim)}
}

// forward computes what the kernel does, in the same order.
func (l *updateLayer) forward() []float32 {
	out := make([]float32, l.n*dim)
	for i := range l.n {
		var row [dim]float32
		for k := range width {
			for j := range row {
				row[j] = fma32(l.features[i*width+k], l.weight[k*dim+j], row[j])
			}
		}
		sum, squares := float32(0), float32(0)
		for j := range row {
			row[j] += l.bias[j]
			sum += row[j]
		}
		mean := sum / dim
		for _, x := range row {
			squares = fma32(x-mean, x-mean, squares)
		}
		share := 1 / float32(math.Sqrt(float64(squares/dim+1e-5)))
		for j, x := range row {
			x = fma32(float32((x-mean)*share), l.scale[j], l.shift[j])
			out[i*dim+j] = l.residual[i*dim+j] + max(x, 0)
		}
	}
	return out
}

func (l *updateLayer) launch(t testing.TB, d *Device, ptx string, weight []float32, rows int) ([]float32, error) {
	t.Helper()
	kernels, err := d.Load(ptx, "update")
	if err != nil {
		t.Fatal(err)
	}
	out, err := d.Allocate(int64(4 * l.n * dim))
	if err != nil {
		t.Fatal(err)
	}
	err = d.Launch(kernels[0], (rows+63)/64, 128, int32(rows), upload(t, d, l.features), upload(t, d, weight), upload(t, d, l.bias), upload(t, d, l.scale),
		upload(t, d, l.shift), upload(t, d, l.residual), out)
	if err != nil {
		return nil, err
	}
	got := make([]float32, l.n*dim)
	return got, d.CopyOut(device.Bytes(got), out)
}

func readPTX(t testing.TB, name string) string {
	t.Helper()
	archive, err := zip.OpenReader("testdata/ptx.zip")
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	text, err := fs.ReadFile(archive, name+".ptx")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestUpdateHasTheBitsOfGo(t *testing.T) {
	t.Parallel()
	l := randomLayer(150)
	got, err := l.launch(t, New(Seed(3)), readPTX(t, "update"), l.weight, l.n)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range l.forward() {
		if got[i] != want {
			t.Fatalf("value %d: %v, want %v", i, got[i], want)
		}
	}
}

// TestPlantedFaults changes a kernel in ways that a card would not report.
func TestPlantedFaults(t *testing.T) {
	t.Parallel()
	l := randomLayer(100)
	ptx := readPTX(t, "update")
	const barrier = "bar.sync \t0;"
	parts := strings.Split(ptx, barrier)
	if len(parts) != 5 {
		t.Fatalf("%d barriers, want 4", len(parts)-1)
	}
	without := func(n int) string {
		return strings.Join(parts[:n+1], barrier) + strings.Join(parts[n+1:], barrier)
	}
	for _, c := range []struct {
		name, ptx string
		weight    []float32
		rows      int
		want      string
	}{
		{"barrier 1 removed", without(0), l.weight, l.n, "races"},
		{"barrier 2 removed", without(1), l.weight, l.n, "races"},
		{"barrier 3 removed", without(2), l.weight, l.n, "shared memory"},
		{"barrier 4 removed", without(3), l.weight, l.n, "shared memory"},
		{"one weight too few", ptx, l.weight[:len(l.weight)-1], l.n, "which has"},
		{"one row too many", ptx, l.weight, l.n + 1, "which has"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := l.launch(t, New(), c.ptx, c.weight, c.rows)
			var fault *Fault
			if !errors.As(err, &fault) {
				t.Fatalf("error %v, want a fault", err)
			}
			t.Log(err)
			if !strings.Contains(fault.What, c.want) || fault.Kernel != "update" || fault.Line == 0 || fault.Instruction == "" {
				t.Errorf("fault %q at line %d, want %q", fault.What, fault.Line, c.want)
			}
		})
	}
}

func BenchmarkUpdate(b *testing.B) {
	l := randomLayer(1000)
	d := New(Workers(1))
	kernels, err := d.Load(readPTX(b, "update"), "update")
	if err != nil {
		b.Fatal(err)
	}
	out, err := d.Allocate(int64(4 * l.n * dim))
	if err != nil {
		b.Fatal(err)
	}
	arguments := []any{int32(l.n), upload(b, d, l.features), upload(b, d, l.weight), upload(b, d, l.bias), upload(b, d, l.scale), upload(b, d, l.shift),
		upload(b, d, l.residual), out}
	for b.Loop() {
		if err := d.Launch(kernels[0], (l.n+63)/64, 128, arguments...); err != nil {
			b.Fatal(err)
		}
	}
}
