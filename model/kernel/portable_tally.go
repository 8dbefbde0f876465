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

// zeroTallies are those of a set that holds the boundary's zero alone.
var zeroTallies = func() (tallies [tallied]tally) {
	for j := range tallies {
		tallies[j].low = emptyLow
	}
	return tallies
}()

// tallied is how many dimensions are added in one go; their tallies are on the stack.
const tallied = 32

// sent are messages x*w that wait to be added, by where their first dimension stands. Where
// an array of known length is read, its length needs neither a check nor a register.
type sent struct {
	x, w  [64]*[tallied]float32
	count int
	ends  [2]float32 // of the state that was read last

	tallies [tallied]tally // of the receiver that they are sent to
}

// tallyRow reduces DistMult's messages to PNA's features, for a receiver in row o whose
// boundary is zero. It leaves nothing in sent.
func (r *Receivers) tallyRow(o, lane int, row []float32, sent *sent) {
	d := r.laneDim()
	for at := 0; at < d; at += tallied {
		tallies := sent.tallies[:min(tallied, d-at)]
		r.startTallies(tallies, o, lane+at)
		r.tallySenders(tallies, o, lane+at, sent)
		divisor := r.Divisor[o]
		mean, high := row[d+at:2*d], row[2*d+at:3*d]
		low, deviation := row[3*d+at:4*d], row[4*d+at:5*d]
		finishTallies(tallies, divisor, mean, high, low, deviation)
	}
}

// startTallies begins with the zero of the boundary, and the copies of the degree message.
func (r *Receivers) startTallies(tallies []tally, o, at int) {
	copies := r.copies(o)
	if !(copies > 0) {
		copy(tallies, zeroTallies[:])
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
// at on: some of them at a time, or one by one where the dimensions are fewer than can be added
// in one go.
func (r *Receivers) tallySenders(tallies []tally, o, at int, sent *sent) {
	begin, end := r.Senders.Of(int32(o), r.Heard)
	rows, relations := r.Senders.Rows[begin:end], r.Senders.Relations[begin:end]
	first, n := r.First*r.Dim+at, len(tallies)
	if n < tallied {
		for i, row := range rows {
			u, q := first+int(row)*r.Dim, int(relations[i])*r.Dim+at
			addMessage(tallies, r.States[u:u+n], r.RelationEmbeddings[q:q+n])
		}
		return
	}
	for len(rows) > 0 {
		count := min(len(rows), len(sent.x))
		sent.list(r.States, rows[:count], first, r.Dim, r.RelationEmbeddings, relations[:count], at)
		sent.addTo((*[tallied]tally)(tallies))
		rows, relations = rows[count:], relations[count:]
	}
}

// list lists messages to add: of states whose rows are counted from one entry on, and relation
// embeddings, both of dim, the latter from their own entry at on.
func (s *sent) list(states []float32, rows []int32, first, dim int, embeddings []float32, relations []int32, at int) {
	s.count = len(rows)
	xs, ws := s.x[:len(rows)], s.w[:len(rows)]
	relations = relations[:len(rows)]
	for i, row := range rows {
		xs[i] = (*[tallied]float32)(states[first+int(row)*dim:])
		ws[i] = (*[tallied]float32)(embeddings[int(relations[i])*dim+at:])
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

// finishTallies writes the features. Where a message was not a number, its bits may have
// been the largest or the smallest, or neither; both are made so.
func finishTallies(tallies []tally, divisor float32, means, highs, lows, deviations []float32) {
	n := len(tallies)
	means, highs, lows, deviations = means[:n], highs[:n], lows[:n], deviations[:n]
	for j := range tallies {
		t := &tallies[j]
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
