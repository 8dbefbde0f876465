package relations

import "tagnet/model/parallel"

// Buffers hold, for one propagator, the tables that a source makes for its queries alone.
type Buffers struct {
	tables    [][]float32 // by layer, views
	own, both [][]float32 // of one query, and of two side by side
}

// resize makes room for a number of layers.
func (b *Buffers) resize(layers int) {
	b.tables, b.own, b.both = parallel.Extend(b.tables, layers), parallel.Extend(b.own, layers), parallel.Extend(b.both, layers)
}

// interleave copies rows of d entries into one lane of a layer's rows of two lanes.
func (b *Buffers) interleave(t int, one []float32, lane, d int) {
	both := parallel.Resize(b.both[t], 2*len(one))
	b.both[t] = both
	for i := 0; i < len(one); i += d {
		copy(both[2*i+lane*d:2*i+(lane+1)*d], one[i:i+d])
	}
}
