package gpu

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"tagnet/model/configuration"
)

// TestManyStripsStart checks the strips and spans of more entities and degrees than a block has threads, in spans of several strips.
func TestManyStripsStart(t *testing.T) {
	t.Parallel()
	const layers, entities, queries = 2, 3000, 40
	d := newCheckedDevice(configuration.Default(), ordered...)
	e := &engine{machine: &machine{device: d, dim: 32, training: true, memory: memory{device: d}}, configuration: configuration.Default()}
	if err := e.load(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	of, begin, rows := make([]int32, entities), []int32{0}, make([]int32, layers*(entities+1))
	for place := range of {
		if place > 1000 && place%3 < 2 { // 1333 other degrees
			begin = append(begin, int32(place))
		}
		of[place] = int32(len(begin) - 1)
	}
	for i := range rows {
		rows[i] = random.Int32N(queries + 1)
	}
	m, b := &e.memory, &e.batch
	b.Layers, b.Entities, b.Degrees, b.Training = layers, entities, int32(len(begin)), 1
	b.StripStride, b.SpanStride = 4000, 4000
	b.DegreeOf, b.DegreeBegin, b.Places = place(m, of), place(m, append(begin, entities)), place(m, rows)
	b.StripBegin, b.Spans, b.SpanCounts = m.allocate(4*layers*int64(b.Degrees+1)), m.allocate(8*layers*int64(b.SpanStride)), m.allocate(4*layers)
	e.at = m.allocate(int64(unsafe.Sizeof(*b)))
	e.start(nil, nil, nil, nil, func(b *batch) { b.Batch = queries })
	e.launch("strips_start", layers, 1024)
	if m.err != nil {
		t.Error(m.err)
	}
	strips := values(e, b.StripBegin, make([]int32, layers*(b.Degrees+1)))
	for i, n := range values(e, b.SpanCounts, make([]int32, layers)) {
		if all := strips[(int32(i)+1)*(b.Degrees+1)-1]; all <= maxSpans || n > maxSpans+b.Degrees+2*queries {
			t.Errorf("%d strips in %d spans", all, n)
		}
	}
}
