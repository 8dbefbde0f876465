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

// tallied is how many dimensions are added in one go; their tallies are on the stack.
const tallied = 64

// noMessage stands in for rows where there are no three messages left.
var noMessage [tallied]float32

// tallyRow reduces DistMult's messages to PNA's features, for a receiver in row o whose
// boundary is zero.
func (r *Receivers) tallyRow(o, lane int, row []float32) {
	var storage [tallied]tally
	d := r.laneDim()
	for at := 0; at < d; at += tallied {
		tallies := storage[:min(tallied, d-at)]
		r.startTallies(tallies, o, lane+at)
		r.tallySenders(tallies, o, lane+at)
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
		for j := range tallies {
			tallies[j] = tally{low: emptyLow}
		}
		return
	}
	message := r.DegreeMessage[at : at+len(tallies)]
	for j := range tallies {
		m := message[j]
		bits := math.Float32bits(m)
		tallies[j] = tally{copies * m, copies * float32(m*m), max(0, int32(bits)), max(emptyLow, bits)}
	}
}

// tallySenders adds the messages of all kinds, three by three.
func (r *Receivers) tallySenders(tallies []tally, o, at int) {
	var x, w [3][]float32
	waiting, n := 0, len(tallies)
	for kind := range r.Kinds {
		senders := &r.Kinds[kind]
		if senders.States == nil {
			continue
		}
		begin, end := senders.Bounds[2*o], senders.Bounds[2*o+1]
		entities, relations := senders.Entities[begin:end], senders.Relations[begin:end]
		relations = relations[:len(entities)]
		for i, entity := range entities {
			u, q := int(entity)*r.Dim+at, int(relations[i])*r.Dim+at
			x[waiting], w[waiting] = senders.States[u:u+n], r.RelationEmbeddings[q:q+n]
			if waiting++; waiting == len(x) {
				addThree(tallies, &x, &w)
				waiting = 0
			}
		}
	}
	if waiting == 0 {
		return
	}
	for ; waiting < len(x); waiting++ {
		x[waiting], w[waiting] = noMessage[:], noMessage[:]
	}
	addThree(tallies, &x, &w)
}

// addThree adds three messages, so that the tallies are read and written once for three: as
// many as a processor has registers for the places of.
func addThree(tallies []tally, x, w *[3][]float32) {
	d := len(tallies)
	x0, x1, x2 := x[0][:d], x[1][:d], x[2][:d]
	w0, w1, w2 := w[0][:d], w[1][:d], w[2][:d]
	for j := range tallies {
		t := &tallies[j]
		m0, m1, m2 := x0[j]*w0[j], x1[j]*w1[j], x2[j]*w2[j]
		t.sum = t.sum + m0 + m1 + m2
		bits0, bits1, bits2 := math.Float32bits(m0), math.Float32bits(m1), math.Float32bits(m2)
		t.squares = t.squares + float32(m0*m0) + float32(m1*m1) + float32(m2*m2)
		high, low := t.high, t.low
		high, low = max(high, int32(bits0)), max(low, bits0)
		high, low = max(high, int32(bits1)), max(low, bits1)
		high, low = max(high, int32(bits2)), max(low, bits2)
		t.high, t.low = high, low
	}
}

// finishTallies writes the features. Where a message was not a number, its bits may have
// been the largest or the smallest, or neither; both are made so.
func finishTallies(tallies []tally, divisor float32, means, highs, lows, deviations []float32) {
	n := len(tallies)
	means, highs, lows, deviations = means[:n], highs[:n], lows[:n], deviations[:n]
	for j := range tallies {
		t := &tallies[j]
		mean := t.sum * divisor
		means[j], highs[j], lows[j] = mean, math.Float32frombits(uint32(t.high)), math.Float32frombits(t.low)
		if t.squares != t.squares {
			highs[j], lows[j] = t.squares, t.squares
		}
		deviations[j] = deviation(t.squares, mean, divisor)
	}
}
