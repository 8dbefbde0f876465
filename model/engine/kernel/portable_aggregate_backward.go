package kernel

import (
	"math"
	"sync"
)

// smallestDeviation is the standard deviation that results from the clamp.
var smallestDeviation = float32(math.Sqrt(float64(float32(smallestVariance))))

// setGradient determines the gradient that each member of a receiver's set receives. A member m
// of n copies receives n (level + slope m); the first that attains the maximum also receives
// byMaximum, which is then set to 0, and the first that attains the minimum byMinimum.
type setGradient struct {
	reduction                          Reduction
	level, slope, byMaximum, byMinimum []float32
	maximum, minimum                   []float32 // of the set, from the features
	zeros, message, gradient           []float32
	storage                            []float32
}

var setGradientPool = sync.Pool{New: func() any { return new(setGradient) }}

// resize gives every slice dim entries.
func (s *setGradient) resize(dim int) {
	if cap(s.storage) < 7*dim {
		s.storage = make([]float32, 7*dim)
	}
	next := s.storage[:7*dim]
	for _, slice := range []*[]float32{&s.level, &s.slope, &s.byMaximum, &s.byMinimum, &s.zeros, &s.message, &s.gradient} {
		*slice, next = next[:dim:dim], next[dim:]
	}
	clear(s.zeros)
}

// AggregateBackward visits each receiver's members in the order that decides ties. The default
// model's receivers other than the source use scatterPNA.
func (portable) AggregateBackward(r *Receivers, features, gradient []float32, g *Gradients) {
	s := setGradientPool.Get().(*setGradient)
	defer setGradientPool.Put(s)
	s.resize(r.Dim)
	width, d := r.Width(), r.Dim
	zeroBoundary := r.Message == DistMult && r.Reduction == PNA && r.Initial == nil
	for i, at := range r.FeatureRows {
		o, row := int(r.Rows[i]), gradient[int(at)*width:][:width]
		if g.Previous != nil {
			add(g.Previous[o*d:(o+1)*d], row[:d])
		}
		if zeroBoundary {
			r.scatterPNA(o, features[int(at)*width:][:width], row, g)
		} else {
			s.scatterRow(r, o, features[int(at)*width:][:width], row, g)
		}
	}
}

// scatterRow propagates the gradient of one receiver's features, for any message, reduction and boundary.
func (s *setGradient) scatterRow(r *Receivers, o int, features, gradient []float32, g *Gradients) {
	s.start(r, o, features, gradient)
	s.scatterInitial(r, g.Initial)
	s.scatterCopies(r, g, o)
	s.scatter(r, g, int32(o))
}

// scatterCopies propagates to the copies of the degree message.
func (s *setGradient) scatterCopies(r *Receivers, g *Gradients, o int) {
	if copies := r.copies(o); copies > 0 {
		s.memberGradient(r.DegreeMessage, copies)
		if g.DegreeMessage != nil {
			add(g.DegreeMessage, s.gradient)
		}
	}
}

// add computes into += what.
func add(into, what []float32) {
	what = what[:len(into)]
	for j := range into {
		into[j] += what[j]
	}
}

// start sets the terms from the features of the receiver in row o and their gradient.
func (s *setGradient) start(r *Receivers, o int, features, gradient []float32) {
	d := r.Dim
	s.reduction = r.Reduction
	s.maximum, s.minimum = s.zeros, s.zeros
	first := gradient[d : 2*d]
	switch r.Reduction {
	case PNA:
		s.startPNA(features, gradient, r.MeanFactor[o])
	case Max:
		s.maximum = features[d : 2*d]
		copy(s.byMaximum, first)
	case Sum:
		copy(s.level, first)
	case Mean:
		copy(s.level, first)
		scaleBy(s.level, r.MeanFactor[o])
	default:
		panic("kernel: unknown reduction")
	}
}

// startPNA sets the terms for PNA. With std = sqrt(squares meanFactor - mean^2) the derivative of
// std with respect to a member m is meanFactor (m - mean) / std, and 0 where std is clamped.
func (s *setGradient) startPNA(features, gradient []float32, meanFactor float32) {
	d := len(s.level)
	mean, deviation := features[d:2*d], features[4*d:5*d]
	s.maximum, s.minimum = features[2*d:3*d], features[3*d:4*d]
	copy(s.byMaximum, gradient[2*d:3*d])
	copy(s.byMinimum, gradient[3*d:4*d])
	byMean, byDeviation := gradient[d:2*d], gradient[4*d:5*d]
	for j := range s.level {
		s.level[j], s.slope[j] = levelAndSlope(mean[j], byMean[j], deviation[j], byDeviation[j], meanFactor)
	}
}

// levelAndSlope returns the terms that come from the mean and the deviation of one dimension.
func levelAndSlope(mean, byMean, deviation, byDeviation, meanFactor float32) (level, slope float32) {
	if !(deviation <= smallestDeviation) {
		slope = byDeviation / deviation
	}
	return (byMean - float32(mean*slope)) * meanFactor, slope * meanFactor
}

// scatterInitial propagates to the boundary, and to the empty messages' zero after it.
func (s *setGradient) scatterInitial(r *Receivers, into []float32) {
	if r.Initial == nil {
		s.memberGradient(s.zeros, 1)
		return
	}
	s.memberGradient(r.Initial, 1)
	if into != nil {
		add(into, s.gradient)
	}
	if r.EmptyMessages {
		s.memberGradient(s.zeros, 1)
	}
}

// memberGradient writes to s.gradient the gradient of a member that the set holds count times.
func (s *setGradient) memberGradient(member []float32, count float32) {
	gradient, member := s.gradient, member[:len(s.gradient)]
	switch s.reduction {
	case Sum, Mean:
		for j := range gradient {
			gradient[j] = s.level[j] * count
		}
		return
	case Max:
		clear(gradient)
	case PNA:
		for j, m := range member {
			gradient[j] = float32((s.level[j] + float32(s.slope[j]*m)) * count)
			if m == s.minimum[j] {
				gradient[j] += s.byMinimum[j]
				s.byMinimum[j] = 0
			}
		}
	}
	for j, m := range member {
		if m == s.maximum[j] {
			gradient[j] += s.byMaximum[j]
			s.byMaximum[j] = 0
		}
	}
}

// scatter propagates to the senders that the receiver in row o hears and to their relations.
func (s *setGradient) scatter(r *Receivers, g *Gradients, o int32) {
	d := r.Dim
	begin, end := r.Senders.Range(o, r.Kinds)
	for e := begin; e < end; e++ {
		u, q := (r.StateOffset+int(r.Senders.Rows[e]))*d, int(r.Senders.Relations[e])*d
		x, w := r.States[u:u+d], r.RelationEmbeddings[q:q+d]
		gx, gw := g.States[u:u+d], g.RelationEmbeddings[q:q+d]
		r.Message.Compute(s.message, x, w)
		s.memberGradient(s.message, 1)
		r.Message.Backward(s.gradient, x, w, gx, gw)
	}
}
