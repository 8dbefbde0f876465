package kernel

import "math"

// This file and portable_pna_unrolled.go aggregate DistMult's messages to PNA's features, the
// default model, for receivers whose boundary is zero: all but the source. They give what
// Aggregate's general loop gives and take a quarter of its time (a seventh where states are
// not in the second-level cache): the accumulators of a few dimensions stay in registers, and
// maximum and minimum take no branches.

// accumulator is the state of one dimension of a set that holds a zero. maximum and minimum are
// the bits of the extremes: positive floats are ordered like their bits as signed integers,
// above every negative one, and negative floats, by size, like theirs as unsigned integers,
// above every positive one. So both are the maximum of integers, which takes no branch. They
// start as 0 and -0, the lowest bits of their order.
type accumulator struct {
	sum, squares float32
	maximum      int32
	minimum      uint32
}

// emptyMinimum is the bits of -0.
const emptyMinimum = 1 << 31

// emptyAccumulator is the accumulator of a set that holds only the boundary's zero.
var emptyAccumulator = accumulator{minimum: emptyMinimum}

// blockDims is the number of dimensions that are accumulated at once; their accumulators are on the stack.
const blockDims = 32

// messageBlock has messages x*w that are not accumulated yet, as pointers to their factors.
// Reading an array of known length needs neither a check nor a register for the length.
type messageBlock struct {
	x, w     [64]*[blockDims]float32
	count    int
	lastEnds [2]float32 // see prefetch

	accumulators [blockDims]accumulator // of the current receiver; empty between receivers
}

// aggregatePNA reduces the messages of every receiver.
//
// block is a local variable and collect is inlined: storing pointers elsewhere would pass the
// garbage collector's write barrier.
func (r *Receivers) aggregatePNA(features []float32) {
	var block messageBlock
	for j := range block.accumulators {
		block.accumulators[j] = emptyAccumulator
	}
	width, d := r.Width(), r.Dim
	for i, featureRow := range r.FeatureRows {
		o, row := int(r.Rows[i]), features[int(featureRow)*width:][:width:width]
		for j := 0; j < d; j += blockDims {
			accumulators := block.accumulators[:min(blockDims, d-j)]
			r.startAccumulators(accumulators, o, j)
			if len(accumulators) < blockDims {
				r.accumulateSenders(accumulators, o, j)
			} else {
				for begin, end := r.Senders.Range(int32(o), r.Kinds); begin < end; begin += int32(len(block.x)) {
					next := min(begin+int32(len(block.x)), end)
					r.collect(&block, begin, next, j)
					block.add()
				}
			}
			finishAccumulators(accumulators, r.MeanFactor[o], row[d+j:2*d], row[2*d+j:3*d], row[3*d+j:4*d], row[4*d+j:5*d])
		}
		r.copyPrevious(o, row)
	}
}

// startAccumulators adds the copies of the degree message to the boundary's zero.
func (r *Receivers) startAccumulators(accumulators []accumulator, o, at int) {
	copies := r.copies(o)
	if !(copies > 0) {
		return
	}
	message := r.DegreeMessage[at : at+len(accumulators)]
	for j := range accumulators {
		m := message[j]
		bits := math.Float32bits(m)
		accumulators[j] = accumulator{copies * m, copies * float32(m*m), max(0, int32(bits)), max(emptyMinimum, bits)}
	}
}

// accumulateSenders accumulates the messages of the receiver in row o one by one, for the
// dimensions from at on, which are fewer than blockDims.
func (r *Receivers) accumulateSenders(accumulators []accumulator, o, at int) {
	n := len(accumulators)
	begin, end := r.Senders.Range(int32(o), r.Kinds)
	for e := begin; e < end; e++ {
		u, q := (r.StateOffset+int(r.Senders.Rows[e]))*r.Dim+at, int(r.Senders.Relations[e])*r.Dim+at
		accumulateMessage(accumulators, r.States[u:u+n], r.RelationEmbeddings[q:q+n])
	}
}

// collect sets a block's messages: those of the senders from begin to end, and of dimensions from at on.
func (r *Receivers) collect(s *messageBlock, begin, end int32, at int) {
	rows, relations := r.Senders.Rows[begin:end], r.Senders.Relations[begin:end]
	s.count = len(rows)
	for i, row := range rows {
		u, q := (r.StateOffset+int(row))*r.Dim+at, int(relations[i])*r.Dim+at
		s.x[i] = (*[blockDims]float32)(r.States[u : u+blockDims : u+blockDims])
		s.w[i] = (*[blockDims]float32)(r.RelationEmbeddings[q : q+blockDims : q+blockDims])
	}
}

// accumulateMessage accumulates one message.
func accumulateMessage(accumulators []accumulator, x, w []float32) {
	x, w = x[:len(accumulators)], w[:len(accumulators)]
	for j := range accumulators {
		accumulators[j] = accumulators[j].with(float32(x[j] * w[j]))
	}
}

// with returns the accumulator with one more message. The square comes last: an SSE product
// replaces one of its factors, and the message is needed until then.
func (t accumulator) with(m float32) accumulator {
	t.sum += m
	t.maximum = max(t.maximum, int32(math.Float32bits(m)))
	t.minimum = max(t.minimum, math.Float32bits(m))
	t.squares += square(m)
	return t
}

// square is a function so that it comes last in the compiled code too: the compiler keeps the
// order of statements, but moves calls that it inlines, such as Float32bits, behind them.
func square(m float32) float32 { return float32(m * m) }

// finishAccumulators writes the features and empties the accumulators. A message that is NaN
// may or may not have changed the extremes by its bits; it makes both of them NaN.
func finishAccumulators(accumulators []accumulator, meanFactor float32, means, highs, lows, deviations []float32) {
	n := len(accumulators)
	means, highs, lows, deviations = means[:n], highs[:n], lows[:n], deviations[:n]
	for j := range accumulators {
		t := accumulators[j]
		accumulators[j] = emptyAccumulator
		mean := t.sum * meanFactor
		variance := float32(t.squares*meanFactor) - float32(mean*mean)
		means[j], highs[j], lows[j] = mean, math.Float32frombits(uint32(t.maximum)), math.Float32frombits(t.minimum)
		if variance != variance {
			if t.squares != t.squares {
				highs[j], lows[j] = t.squares, t.squares
			}
			deviations[j] = variance
			continue
		}
		// Positive floats are ordered like their bits, negative ones have negative bits.
		bits := max(int32(math.Float32bits(variance)), smallestVarianceBits)
		deviations[j] = float32(math.Sqrt(float64(math.Float32frombits(uint32(bits)))))
	}
}
