package kernel

import "math"

// The standard deviation is clamped from below: sqrt(max(variance, smallestVariance)).
const smallestVariance = 1e-6

var smallestVarianceBits = int32(math.Float32bits(smallestVariance))

// Aggregate uses aggregatePNA for the default model. For other models it accumulates in the row
// of features itself: the sum where the mean will be, the squares where the deviation will be,
// and each message where the previous state will be, which is copied last.
func (portable) Aggregate(r *Receivers, features []float32) {
	if r.Message == DistMult && r.Reduction == PNA && r.Initial == nil {
		r.aggregatePNA(features)
		return
	}
	width := r.Width()
	for i, at := range r.FeatureRows {
		o, row := int(r.Rows[i]), features[int(at)*width:][:width:width]
		r.gatherRow(o, row)
		r.copyPrevious(o, row)
	}
}

// copyPrevious writes the previous state of the receiver in row o, or zeros, to its features.
func (r *Receivers) copyPrevious(o int, row []float32) {
	previous := row[:r.Dim]
	if r.Previous == nil {
		clear(previous)
		return
	}
	copy(previous, r.Previous[o*r.Dim:])
}

// gatherRow reduces one receiver's messages, for any message, reduction and boundary.
func (r *Receivers) gatherRow(o int, row []float32) {
	set := r.start(row)
	if copies := r.copies(o); copies > 0 {
		set.addCopies(r.DegreeMessage[:r.Dim], copies)
	}
	r.gather(&set, row[:r.Dim], int32(o))
	set.finish(r, o)
}

// copies returns how many degree messages the set of the receiver in row o holds.
func (r *Receivers) copies(o int) float32 {
	if r.DegreeMessage == nil || r.Copies == nil {
		return 0
	}
	return r.Copies[o]
}

// messageSet accumulates a receiver's set. What a reduction does not need is nil.
type messageSet struct{ sum, squares, high, low []float32 }

// setIn returns a set that accumulates in a row of features.
func (r *Receivers) setIn(row []float32) messageSet {
	d := r.Dim
	switch r.Reduction {
	case PNA:
		return messageSet{sum: row[d : 2*d], high: row[2*d : 3*d], low: row[3*d : 4*d], squares: row[4*d : 5*d]}
	case Max:
		return messageSet{high: row[d : 2*d]}
	case Sum, Mean:
		return messageSet{sum: row[d : 2*d]}
	}
	panic("kernel: unknown reduction")
}

// start returns the set that holds the boundary alone.
func (r *Receivers) start(row []float32) messageSet {
	s := r.setIn(row)
	if r.Initial == nil {
		clear(row)
		return s
	}
	initial := r.Initial[:r.Dim]
	copy(s.sum, initial)
	copy(s.high, initial)
	copy(s.low, initial)
	for j := range s.squares {
		s.squares[j] = initial[j] * initial[j]
	}
	if r.EmptyMessages {
		for j := range s.high {
			s.high[j] = max(s.high[j], 0)
		}
		for j := range s.low {
			s.low[j] = min(s.low[j], 0)
		}
	}
	return s
}

// gather adds the messages that the receiver in row o hears.
func (r *Receivers) gather(s *messageSet, scratch []float32, o int32) {
	d := r.Dim
	begin, end := r.Senders.Range(o, r.Kinds)
	onlySum := r.Message == DistMult && (r.Reduction == Sum || r.Reduction == Mean)
	for e := begin; e < end; e++ {
		u, q := (r.StateOffset+int(r.Senders.Rows[e]))*d, int(r.Senders.Relations[e])*d
		x, w := r.States[u:u+d], r.RelationEmbeddings[q:q+d]
		if onlySum {
			addProducts(s.sum, x, w)
			continue
		}
		r.Message.Compute(scratch, x, w)
		s.addCopies(scratch, 1)
	}
}

// addCopies adds count copies of a message.
func (s *messageSet) addCopies(message []float32, count float32) {
	for j := range s.sum {
		s.sum[j] += float32(count * message[j])
	}
	for j := range s.squares {
		s.squares[j] += float32(count * float32(message[j]*message[j]))
	}
	for j := range s.high {
		s.high[j] = max(s.high[j], message[j])
	}
	for j := range s.low {
		s.low[j] = min(s.low[j], message[j])
	}
}

// finish turns the accumulated values of the receiver in row o into features.
func (s *messageSet) finish(r *Receivers, o int) {
	switch r.Reduction {
	case Mean:
		scaleBy(s.sum, r.MeanFactor[o])
	case PNA:
		meanFactor := r.MeanFactor[o]
		for j, squares := range s.squares {
			mean := s.sum[j] * meanFactor
			s.sum[j] = mean
			s.squares[j] = deviation(squares, mean, meanFactor)
		}
	}
}

// scaleBy multiplies the entries of a row by a factor.
func scaleBy(row []float32, factor float32) {
	for j := range row {
		row[j] *= factor
	}
}

// deviation returns the standard deviation of a set from the sum of its squares and its mean.
func deviation(squares, mean, meanFactor float32) float32 {
	variance := float32(squares*meanFactor) - float32(mean*mean)
	return float32(math.Sqrt(float64(max(variance, smallestVariance))))
}
