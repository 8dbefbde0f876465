package kernel

import "math"

// tally is one dimension of a set that holds a zero, while its messages are added. high and
// low are the bits of the largest and the smallest message: positive floats are ordered like
// their bits as signed integers, above every negative one, and negative floats, by size,
// like theirs as unsigned ones, above every positive one. Integers compare without a branch,
// and one word of bits serves both. They begin with 0 and -0, which have the lowest bits.
type tally struct {
	sum, squares float32
	high         int32
	low          uint32
}

// emptyLow are the bits of -0.
const emptyLow = 1 << 31

// zeroTally is that of a set that holds the boundary's zero alone.
var zeroTally = tally{low: emptyLow}

// tallied is how many dimensions are added in one go; their tallies are on the stack.
const tallied = 32

// sent are messages x*w that wait to be added, by where their first dimension stands. Where
// an array of known length is read, its length needs neither a check nor a register.
type sent struct {
	x, w  [64]*[tallied]float32
	count int
	ends  [2]float32 // of the state that was read last

	tallies [tallied]tally // of the receiver that they are sent to; between receivers all are zeroTally
}

// tallyLane reduces DistMult's messages to PNA's features, for receivers whose boundary is
// zero, in the lane that begins at an entry of every row.
//
// What is sent belongs to this function, and list is inlined into it: elsewhere every pointer
// that is stored would ask first whether the garbage collector is at work.
func (r *Receivers) tallyLane(lane int, features []float32) {
	var sent sent
	for j := range sent.tallies {
		sent.tallies[j] = zeroTally
	}
	width, d := r.Width(), r.laneDim()
	for i, place := range r.FeatureRows {
		o, row := int(r.Rows[i]), features[int(place)*width:][:width:width]
		for j := 0; j < d; j += tallied {
			tallies, at := sent.tallies[:min(tallied, d-j)], lane+j
			r.startTallies(tallies, o, at)
			if len(tallies) < tallied {
				r.tallySenders(tallies, o, at)
			} else {
				for begin, end := r.Senders.Range(int32(o), r.Kinds); begin < end; begin += int32(len(sent.x)) {
					next := min(begin+int32(len(sent.x)), end)
					sent.list(r.Senders.Rows[begin:next], r.Senders.Relations[begin:next], r.States, r.StateOffset*r.Dim+at, r.RelationEmbeddings, at, r.Dim)
					sent.add()
				}
			}
			finishTallies(tallies, r.MeanFactor[o], row[d+j:2*d], row[2*d+j:3*d], row[3*d+j:4*d], row[4*d+j:5*d])
		}
		r.copyOwn(o, lane, row)
	}
}

// startTallies adds the copies of the degree message to the zero of the boundary.
func (r *Receivers) startTallies(tallies []tally, o, at int) {
	copies := r.copies(o)
	if !(copies > 0) {
		return
	}
	message := r.DegreeMessage[at : at+len(tallies)]
	for j := range tallies {
		m := message[j]
		bits := math.Float32bits(m)
		tallies[j] = tally{copies * m, copies * float32(m*m), max(0, int32(bits)), max(emptyLow, bits)}
	}
}

// tallySenders adds the messages of the receiver in row o to the tallies of the dimensions from
// at on, one by one: they are fewer than can be added in one go.
func (r *Receivers) tallySenders(tallies []tally, o, at int) {
	n := len(tallies)
	begin, end := r.Senders.Range(int32(o), r.Kinds)
	for e := begin; e < end; e++ {
		u, q := (r.StateOffset+int(r.Senders.Rows[e]))*r.Dim+at, int(r.Senders.Relations[e])*r.Dim+at
		addMessage(tallies, r.States[u:u+n], r.RelationEmbeddings[q:q+n])
	}
}

// list lists messages to add, of states whose rows are counted from one entry on, and of
// relation embeddings from their entry at on. Rows of both have dim entries.
func (s *sent) list(rows, relations []int32, states []float32, first int, embeddings []float32, at, dim int) {
	s.count = len(rows)
	for i, row := range rows {
		u, q := first+int(row)*dim, at+int(relations[i])*dim
		s.x[i] = (*[tallied]float32)(states[u : u+tallied : u+tallied])
		s.w[i] = (*[tallied]float32)(embeddings[q : q+tallied : q+tallied])
	}
}

// addMessage adds one message.
func addMessage(tallies []tally, x, w []float32) {
	x, w = x[:len(tallies)], w[:len(tallies)]
	for j := range tallies {
		tallies[j] = tallies[j].with(float32(x[j] * w[j]))
	}
}

// with is the tally and one more message. The square comes last: until then the message is
// needed as it is, and a product replaces one of its factors, or has to copy it first.
func (t tally) with(m float32) tally {
	t.sum += m
	t.high = max(t.high, int32(math.Float32bits(m)))
	t.low = max(t.low, math.Float32bits(m))
	t.squares += square(m)
	return t
}

// square is called so that it comes last in the compiled code too: the compiler keeps the order
// of lines, but puts calls that it inlines, such as Float32bits, behind the lines around them.
func square(m float32) float32 { return float32(m * m) }

// finishTallies writes the features, and leaves zero tallies. Where a message was not a number,
// its bits may have been the largest or the smallest, or neither; both are made so.
func finishTallies(tallies []tally, divisor float32, means, highs, lows, deviations []float32) {
	n := len(tallies)
	means, highs, lows, deviations = means[:n], highs[:n], lows[:n], deviations[:n]
	for j := range tallies {
		t := tallies[j]
		tallies[j] = zeroTally
		mean := t.sum * divisor
		variance := float32(t.squares*divisor) - float32(mean*mean)
		means[j], highs[j], lows[j] = mean, math.Float32frombits(uint32(t.high)), math.Float32frombits(t.low)
		if variance != variance {
			if t.squares != t.squares {
				highs[j], lows[j] = t.squares, t.squares
			}
			deviations[j] = variance
			continue
		}
		// Numbers below the bound have lower bits, negative ones negative bits.
		bits := max(int32(math.Float32bits(variance)), smallestVarianceBits)
		deviations[j] = float32(math.Sqrt(float64(math.Float32frombits(uint32(bits)))))
	}
}
