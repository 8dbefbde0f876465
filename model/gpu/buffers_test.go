package gpu

import (
	"errors"
	"strings"
	"testing"

	"tagnet/model/engine/device"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/graph"
	"tagnet/model/weights/configuration"
)

// TestPlaceBuffersErrors asks for the buffers of graphs that a device cannot compute.
func TestPlaceBuffersErrors(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	c.Layers, c.Delta = 3, 2
	for _, test := range []struct {
		entities int
		free     int64
		memory   bool // whether the error is that of memory
		says     string
	}{
		{entities: 1 << 29, free: 1 << 30, says: "536870912 entities or relations with 3 states each are too many for a device: at most 536870910; use " +
			"--device cpu"},
		{entities: 1<<29 - 2, free: 1 << 30, memory: true, says: "1 of the queries that are computed together take "},
		{entities: 1000, free: 1 << 20, memory: true,
			says: "of 0 MiB free; end other processes on the GPU, train with a smaller --batch_size or use --device cpu"},
	} {
		d := interpreter.New(interpreter.Memory(test.free))
		e := &engine{machine: &machine{device: d, dim: 32, memory: memory{device: d}}, graph: &graph.Graph{Entities: test.entities, Offsets: []int64{0}},
			configuration: c}
		err := e.placeBuffers(test.entities, 64, e.free())
		if err == nil || errors.Is(err, device.ErrMemory) != test.memory || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%d entities: %v, want %q", test.entities, err, test.says)
		}
	}
}

// TestTooManyParameters checks that a model whose parameters have no 32-bit indices is refused before
// anything is placed.
func TestTooManyParameters(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	c.Dim = 64
	g := &graph.Graph{Entities: 2, BaseRelations: 25_000, Offsets: []int64{0, 0, 0}}
	_, err := newEngine(interpreter.New(), g, nil, c, nil, true)
	const want = "a model of 1251537281 parameters, for 25000 relations, is too large for a device: at most 1073741823; use --device cpu"
	if err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestChunksAreIndexed checks that the values of a chunk's queries have 32-bit indices.
func TestChunksAreIndexed(t *testing.T) {
	t.Parallel()
	c := configuration.Default()
	c.Layers, c.Delta = 3, 2
	for name, test := range map[string]struct {
		entities, relations, dim int
		most                     int64
	}{
		"rows":         {1 << 20, 1, 32, 511},
		"dropout":      {1 << 20, 1, 64, 255},
		"relations":    {10, 50_000, 64, 167},
		"candidates":   {10, 1, 32, 1<<15 - 1},
		"hidden units": {10, 1, 64, 1<<22 - 1},
	} {
		e := &engine{graph: &graph.Graph{Entities: test.entities, BaseRelations: test.relations}, configuration: c, machine: &machine{dim: test.dim}}
		stride := 1
		if name == "candidates" {
			stride = 1 << 15
		}
		if most, err := e.indexed(stride); err != nil || most != test.most {
			t.Errorf("%s: %d queries, %v, want %d", name, most, err, test.most)
		}
	}
}
