package gpu

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"tagnet/model/configuration"
)

// TestManyRowsStart checks the first rows of more queries than one turn of the block takes.
func TestManyRowsStart(t *testing.T) {
	t.Parallel()
	const layers, queries = 3, 300 // 2400 counts in turns of 1024
	d := newCheckedDevice(configuration.Default(), ordered...)
	e := &engine{machine: &machine{device: d, dim: 32, memory: memory{device: d}}, configuration: configuration.Default()}
	if err := e.load(); err != nil {
		t.Fatal(err)
	}
	counts := make([]int32, 2*(layers+1)*queries)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range counts {
		counts[i] = random.Int32N(1000)
	}
	m, b := &e.memory, &e.batch
	b.Layers, b.Batch, b.Counts = layers, queries, place(m, counts)
	b.Starts, b.RowBegin, b.HeavyEnd = m.allocate(int64(4*len(counts))), m.allocate(4*(layers+2)), m.allocate(4*(layers+1))
	e.at = m.allocate(int64(unsafe.Sizeof(*b)))
	e.start(nil, nil, nil, nil, func(b *batch) { b.Batch = queries })
	e.launch("rows_start", 1, 1024)
	if m.err != nil {
		t.Error(m.err)
	}
	if begin := values(e, b.RowBegin, make([]int32, layers+2)); begin[layers+1] < 1_000_000 {
		t.Errorf("rows begin at %d", begin)
	}
}
