package gpu

import (
	"errors"
	"strings"
	"testing"

	"tagnet/model/configuration"
	"tagnet/model/device"
	"tagnet/model/device/interpreter"
	"tagnet/model/graph"
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
		{entities: 1 << 29, free: 1 << 30, says: "536870912 entities with 3 states each are too many for a device: at most 536870910; use --device cpu"},
		{entities: 1<<29 - 2, free: 1 << 30, memory: true, says: "one query takes "},
		{entities: 1000, free: 1 << 20, memory: true, says: "of 0 MiB free; end other processes on the GPU or use --device cpu"},
	} {
		d := interpreter.New(interpreter.Memory(test.free))
		e := &engine{device: d, graph: &graph.Graph{Entities: test.entities, Offsets: []int64{0}}, configuration: c, dim: 32, memory: memory{device: d}}
		err := e.placeBuffers(test.entities, 64)
		if err == nil || errors.Is(err, device.ErrMemory) != test.memory || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%d entities: %v, want %q", test.entities, err, test.says)
		}
	}
}
