package gpu

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"tagnet/formats/hop"
	"tagnet/model/gpu/interpreter"
	"tagnet/model/weights/configuration"
)

// newLoaded returns an engine without a graph, for launches of single kernels.
func newLoaded(t *testing.T, training bool) *engine {
	t.Helper()
	d := interpreter.New(ordered...)
	e := &engine{machine: &machine{device: d, dim: 32, training: training, memory: memory{device: d}}, configuration: configuration.Default()}
	if err := e.load(); err != nil {
		t.Fatal(err)
	}
	e.at = e.memory.allocate(int64(unsafe.Sizeof(e.batch)))
	return e
}

// TestManyRowsStart checks the first rows of more queries than one turn of the block takes.
func TestManyRowsStart(t *testing.T) {
	t.Parallel()
	const layers, queries = 3, 300 // 2400 counts in turns of 1024
	counts := make([]int32, 2*(layers+1)*queries)
	starts, all := make([]int32, len(counts)), int32(0)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range counts {
		counts[i] = random.Int32N(1000)
		starts[i], all = all, all+counts[i]
	}
	var rowBegin, heavyEnd []int32
	for i := 0; i < len(starts); i += 2 * queries {
		rowBegin, heavyEnd = append(rowBegin, starts[i]), append(heavyEnd, starts[i+queries])
	}
	e := newLoaded(t, false)
	m, b := &e.memory, &e.batch
	b.Layers, b.Batch, b.Counts = layers, queries, place(m, counts)
	b.Starts, b.RowBegin, b.HeavyEnd = m.allocate(int64(4*len(counts))), m.allocate(4*(layers+2)), m.allocate(4*(layers+1))
	e.start(nil, nil, nil, func(b *batch) { b.Batch = queries })
	e.launch("rows_start", 1, 1024)
	for name, values := range map[string][2][]int32{
		"starts":    {starts, values(e, b.Starts, make([]int32, len(starts)))},
		"row begin": {append(rowBegin, all), values(e, b.RowBegin, make([]int32, layers+2))},
		"heavy end": {heavyEnd, values(e, b.HeavyEnd, make([]int32, layers+1))},
	} {
		if diff := cmp.Diff(values[0], values[1]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if m.err != nil || all < 1_000_000 {
		t.Errorf("error %v, %d rows", m.err, all)
	}
}

// TestConstants holds that the kernels define the host's constants.
func TestConstants(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("kernels/model.cuh")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"UNREACHED": hop.Unreached, "HEAVY": heavyDegree, "STRIP": stripRows} {
		if define := fmt.Sprintf("\n#define %s %d ", name, want); !strings.Contains(string(text), define) {
			t.Errorf("model.cuh lacks %q", define)
		}
	}
}
