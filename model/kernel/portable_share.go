package kernel

import "math"

// share is what the members of a receiver's set get of the gradient of one dimension, as in
// shares: beside one another, so that the inner loop needs one place for all.
type share struct {
	level, slope     float32
	maximum, minimum float32
	high, low        float32
}

// dealt is how many dimensions are shared out in one go; their shares are on the stack.
const dealt = 64

// shareRow takes the gradient of the features in row o back to DistMult's messages under
// PNA, where the boundary is zero.
func (r *Receivers) shareRow(o int, features, gradient []float32, g *Gradients) {
	var storage [dealt]share
	for at := 0; at < r.Dim; at += dealt {
		shares := storage[:min(dealt, r.Dim-at)]
		r.startShares(shares, at, features, gradient, r.MeanFactor[o])
		if copies := r.copies(o); copies > 0 {
			shareCopies(shares, r.DegreeMessage[at:], g.DegreeMessage, at, copies)
		}
		r.shareSenders(shares, o, at, g)
	}
}

// startShares sets the shares of the dimensions from at on. The boundary comes first: where
// it attains the maximum or the minimum, nobody else gets that gradient.
func (r *Receivers) startShares(shares []share, at int, features, gradient []float32, divisor float32) {
	d, n := r.Dim, len(shares)
	means, byMeans := features[d+at:][:n], gradient[d+at:][:n]
	maxima, byMaxima := features[2*d+at:][:n], gradient[2*d+at:][:n]
	minima, byMinima := features[3*d+at:][:n], gradient[3*d+at:][:n]
	deviations, byDeviations := features[4*d+at:][:n], gradient[4*d+at:][:n]
	for j := range shares {
		s := &shares[j]
		s.level, s.slope = levelAndSlope(means[j], byMeans[j], deviations[j], byDeviations[j], divisor)
		s.maximum, s.high = maxima[j], unlessZero(byMaxima[j], maxima[j])
		s.minimum, s.low = minima[j], unlessZero(byMinima[j], minima[j])
	}
}

// unlessZero is x, or 0 where extreme is 0 or -0. Like tally, it compares bits: which sets
// have no message above zero is not to be guessed.
func unlessZero(x, extreme float32) float32 {
	bits := math.Float32bits(x)
	if math.Float32bits(extreme)<<1 == 0 {
		bits = 0
	}
	return math.Float32frombits(bits)
}

// shareCopies lets the copies of the degree message take their share. into may be nil.
func shareCopies(shares []share, message, into []float32, at int, copies float32) {
	message = message[:len(shares)]
	for j := range shares {
		gradient := shares[j].take(message[j], copies)
		if into != nil {
			into[at+j] += gradient
		}
	}
}

// take is the gradient of a member that stands in the set count times.
func (s *share) take(m, count float32) float32 {
	gradient := float32((s.level + float32(s.slope*m)) * count)
	if m == s.minimum {
		gradient += s.low
		s.low = 0
	}
	if m == s.maximum {
		gradient += s.high
		s.high = 0
	}
	return gradient
}

// shareSenders gives the senders that are heard, and their relations, their shares.
func (r *Receivers) shareSenders(shares []share, o, at int, g *Gradients) {
	n := len(shares)
	begin, end := r.Senders.Range(int32(o), r.Kinds)
	for e := begin; e < end; e++ {
		u, q := (r.StateOffset+int(r.Senders.Rows[e]))*r.Dim+at, int(r.Senders.Relations[e])*r.Dim+at
		shareProduct(shares, r.States[u:u+n], r.RelationEmbeddings[q:q+n], g.States[u:u+n], g.RelationEmbeddings[q:q+n])
	}
}

// shareProduct gives the state x and the relation embedding w of a message x*w its share.
func shareProduct(shares []share, x, w, gx, gw []float32) {
	x, w, gx, gw = x[:len(shares)], w[:len(shares)], gx[:len(shares)], gw[:len(shares)]
	for j := range shares {
		a, b := x[j], w[j]
		gradient := shares[j].take(a*b, 1)
		gx[j] += float32(gradient * b)
		gw[j] += float32(gradient * a)
	}
}
