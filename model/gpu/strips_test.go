package gpu

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// span is the kernels' struct Span.
type span struct{ Strip, Rows int32 }

// stripsOf returns the first strip of each degree of a layer, and behind them that of the ends, and the spans, from the
// rows of each degree.
func stripsOf(rows []int, ends int) (begin []int32, spans []span) {
	all := 0
	for _, n := range rows {
		begin = append(begin, int32(all))
		all += blocks(n, stripRows)
	}
	begin = append(begin, int32(all))
	size := max(1, blocks(all, maxSpans)) // strips of a span
	for degree, left := range rows {
		for strip := int(begin[degree]); left > 0; strip, left = strip+size, left-size*stripRows {
			spans = append(spans, span{int32(strip), int32(min(left, size*stripRows))})
		}
	}
	for i := range ends {
		spans = append(spans, span{int32(all + i), 1})
	}
	return begin, spans
}

// TestManyStripsStart checks the strips and spans of more entities and degrees than a block has threads, in
// spans of several strips.
func TestManyStripsStart(t *testing.T) {
	t.Parallel()
	const layers, entities, queries, stride = 2, 3000, 40, 4000
	random := rand.New(rand.NewPCG(1, 2))
	of, begin := make([]int32, entities), []int32{0}
	for place := range of {
		if place > 1000 && place%3 < 2 { // 1333 other degrees
			begin = append(begin, int32(place))
		}
		of[place] = int32(len(begin) - 1)
	}
	counts, byDegree := make([]int32, layers*(entities+1)), [layers][]int{}
	for t := range layers {
		byDegree[t] = make([]int, len(begin))
		for place, degree := range of {
			n := random.IntN(queries + 1)
			counts[t*(entities+1)+place] = int32(n)
			byDegree[t][degree] += n
		}
	}
	e := newLoaded(t, true)
	m, b := &e.memory, &e.batch
	b.Layers, b.Entities, b.Degrees, b.Training = layers, entities, int32(len(begin)), 1
	b.StripStride, b.SpanStride = stride, stride
	b.DegreeOf, b.DegreeBegin, b.Places = place(m, of), place(m, append(begin, entities)), place(m, counts)
	b.StripBegin, b.Spans, b.SpanCounts = m.allocate(4*layers*int64(b.Degrees+1)), m.allocate(8*layers*stride), m.allocate(4*layers)
	m.clear(b.Spans, 8*layers*stride)
	e.start(nil, nil, nil, func(b *batch) { b.Batch = queries })
	e.launch("strips_start", layers, 1024)
	strips, spans := values(e, b.StripBegin, make([]int32, layers*(b.Degrees+1))), values(e, b.Spans, make([]span, layers*stride))
	for i, n := range values(e, b.SpanCounts, make([]int32, layers)) {
		wantStrips, wantSpans := stripsOf(byDegree[i], 2*queries)
		if diff := cmp.Diff(wantStrips, strips[i*len(wantStrips):][:len(wantStrips)]); diff != "" {
			t.Errorf("layer %d: strips (-want +got):\n%s", i+1, diff)
		}
		if diff := cmp.Diff(wantSpans, spans[i*stride:][:n]); diff != "" {
			t.Errorf("layer %d: spans (-want +got):\n%s", i+1, diff)
		}
		if all := wantStrips[len(wantStrips)-1]; all <= maxSpans {
			t.Errorf("%d strips, want more than %d spans", all, maxSpans)
		}
	}
	if m.err != nil {
		t.Error(m.err)
	}
}
