package kernel

import (
	"math"
	"sync"
)

// smallestDeviation is the standard deviation where the clamp holds.
var smallestDeviation = float32(math.Sqrt(float64(float32(smallestVariance))))

// shares says what the members of a receiver's set get of its gradient. A member m of n
// copies gets n (level + slope m); the first that attains the maximum also gets high, which
// is then taken (set to 0), and the first that attains the minimum gets low.
type shares struct {
	reduction                Reduction
	level, slope, high, low  []float32
	maximum, minimum         []float32 // of the set, from the features
	zeros, message, gradient []float32
	storage                  []float32
}

var sharesPool = sync.Pool{New: func() any { return new(shares) }}

// resize gives every slice of the shares dim entries.
func (s *shares) resize(dim int) {
	if cap(s.storage) < 7*dim {
		s.storage = make([]float32, 7*dim)
	}
	next := s.storage[:7*dim]
	for _, slice := range []*[]float32{&s.level, &s.slope, &s.high, &s.low, &s.zeros, &s.message, &s.gradient} {
		*slice, next = next[:dim:dim], next[dim:]
	}
	clear(s.zeros)
}

// AggregateBackward goes over each receiver's members in the order of ties. The usual model's
// receivers have a way of their own, all but the source.
func (portable) AggregateBackward(r *Receivers, features, gradient []float32, g *Gradients) {
	s := sharesPool.Get().(*shares)
	defer sharesPool.Put(s)
	s.resize(r.Dim)
	width, d := r.Width(), r.Dim
	shared := r.Message == DistMult && r.Reduction == PNA && r.Initial == nil
	for i, at := range r.FeatureRows {
		o, row := int(r.Rows[i]), gradient[int(at)*width:][:width]
		if g.Previous != nil {
			add(g.Previous[o*d:(o+1)*d], row[:d])
		}
		if shared {
			r.shareRow(o, features[int(at)*width:][:width], row, g)
		} else {
			s.scatterRow(r, o, features[int(at)*width:][:width], row, g)
		}
	}
}

// scatterRow takes the gradient of the features in row o back, of any kind of message and
// with any boundary.
func (s *shares) scatterRow(r *Receivers, o int, features, gradient []float32, g *Gradients) {
	s.start(r, features, gradient, r.MeanFactor[o])
	s.backInitial(r, g.Initial)
	if copies := r.copies(o); copies > 0 {
		s.take(r.DegreeMessage, copies)
		if g.DegreeMessage != nil {
			add(g.DegreeMessage, s.gradient)
		}
	}
	s.scatter(r, g, int32(o))
}

func add(into, what []float32) {
	what = what[:len(into)]
	for j := range into {
		into[j] += what[j]
	}
}

// start sets the shares from one receiver's features and their gradient.
func (s *shares) start(r *Receivers, features, gradient []float32, divisor float32) {
	d := r.Dim
	s.reduction = r.Reduction
	s.maximum, s.minimum = s.zeros, s.zeros
	first := gradient[d : 2*d]
	switch r.Reduction {
	case PNA:
		s.startPNA(features, gradient, divisor)
	case Max:
		s.maximum = features[d : 2*d]
		copy(s.high, first)
	case Sum:
		copy(s.level, first)
	case Mean:
		for j := range s.level {
			s.level[j] = first[j] * divisor
		}
	}
}

// startPNA uses std = sqrt(squares divisor - mean^2): by a member m its derivative is
// divisor (m - mean) / std, and 0 where the clamp holds.
func (s *shares) startPNA(features, gradient []float32, divisor float32) {
	d := len(s.level)
	mean, deviation := features[d:2*d], features[4*d:5*d]
	s.maximum, s.minimum = features[2*d:3*d], features[3*d:4*d]
	copy(s.high, gradient[2*d:3*d])
	copy(s.low, gradient[3*d:4*d])
	byMean, byDeviation := gradient[d:2*d], gradient[4*d:5*d]
	for j := range s.level {
		s.level[j], s.slope[j] = levelAndSlope(mean[j], byMean[j], deviation[j], byDeviation[j], divisor)
	}
}

// levelAndSlope are what a member gets by the mean and the deviation of one dimension.
func levelAndSlope(mean, byMean, deviation, byDeviation, divisor float32) (level, slope float32) {
	if !(deviation <= smallestDeviation) {
		slope = byDeviation / deviation
	}
	return (byMean - float32(mean*slope)) * divisor, slope * divisor
}

// backInitial lets the boundary take its share, and the zero beside it.
func (s *shares) backInitial(r *Receivers, into []float32) {
	if r.Initial == nil {
		s.take(s.zeros, 1)
		return
	}
	s.take(r.Initial, 1)
	if into != nil {
		add(into, s.gradient)
	}
	if r.EmptyMessages {
		s.take(s.zeros, 1)
	}
}

// take writes to s.gradient the gradient of a member that stands in the set count times.
func (s *shares) take(member []float32, count float32) {
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
				gradient[j] += s.low[j]
				s.low[j] = 0
			}
		}
	}
	for j, m := range member {
		if m == s.maximum[j] {
			gradient[j] += s.high[j]
			s.high[j] = 0
		}
	}
}

// scatter gives the senders that are heard in row o, and their relations, their shares.
func (s *shares) scatter(r *Receivers, g *Gradients, o int32) {
	d := r.Dim
	begin, end := r.Senders.Range(o, r.Kinds)
	for e := begin; e < end; e++ {
		u, q := (r.StateOffset+int(r.Senders.Rows[e]))*d, int(r.Senders.Relations[e])*d
		x, w := r.States[u:u+d], r.RelationEmbeddings[q:q+d]
		gx, gw := g.States[u:u+d], g.RelationEmbeddings[q:q+d]
		message(r.Message, s.message, x, w)
		s.take(s.message, 1)
		messageBackward(r.Message, s.gradient, x, w, gx, gw)
	}
}
