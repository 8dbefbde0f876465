package kernel

import "math"

// gradientTerms determine the gradient that each member of a receiver's set receives in one
// dimension, as setGradient does. They stand next to each other, so that the inner loop needs one
// pointer for all; with setGradient's slices it takes three times as long.
type gradientTerms struct {
	level, slope         float32
	maximum, minimum     float32
	byMaximum, byMinimum float32
}

// backwardDims is the number of dimensions that are computed at once; their terms are on the stack.
const backwardDims = 64

// scatterPNA propagates the gradient of the features of the receiver in row o to DistMult's
// messages under PNA, where the boundary is zero.
func (r *Receivers) scatterPNA(o int, features, gradient []float32, g *Gradients) {
	var storage [backwardDims]gradientTerms
	for at := 0; at < r.Dim; at += backwardDims {
		terms := storage[:min(backwardDims, r.Dim-at)]
		r.startMembers(terms, at, features, gradient, r.MeanFactor[o])
		if copies := r.copies(o); copies > 0 {
			scatterCopies(terms, r.DegreeMessage[at:], g.DegreeMessage, at, copies)
		}
		r.scatterSenders(terms, o, at, g)
	}
}

// startMembers sets the terms of the dimensions from at on. The boundary is the first member:
// where it attains the maximum or the minimum, no other member receives that gradient.
func (r *Receivers) startMembers(terms []gradientTerms, at int, features, gradient []float32, meanFactor float32) {
	d, n := r.Dim, len(terms)
	means, byMeans := features[d+at:][:n], gradient[d+at:][:n]
	maxima, byMaxima := features[2*d+at:][:n], gradient[2*d+at:][:n]
	minima, byMinima := features[3*d+at:][:n], gradient[3*d+at:][:n]
	deviations, byDeviations := features[4*d+at:][:n], gradient[4*d+at:][:n]
	for j := range terms {
		s := &terms[j]
		s.level, s.slope = levelAndSlope(means[j], byMeans[j], deviations[j], byDeviations[j], meanFactor)
		s.maximum, s.byMaximum = maxima[j], unlessZero(byMaxima[j], maxima[j])
		s.minimum, s.byMinimum = minima[j], unlessZero(byMinima[j], minima[j])
	}
}

// unlessZero returns x, or 0 where extreme is 0 or -0. It compares bits, which takes no branch:
// the processor could not predict which sets have no message above zero.
func unlessZero(x, extreme float32) float32 {
	bits := math.Float32bits(x)
	if math.Float32bits(extreme)<<1 == 0 {
		bits = 0
	}
	return math.Float32frombits(bits)
}

// scatterCopies propagates to the copies of the degree message. into may be nil.
func scatterCopies(terms []gradientTerms, message, into []float32, at int, copies float32) {
	message = message[:len(terms)]
	for j := range terms {
		gradient := terms[j].memberGradient(message[j], copies)
		if into != nil {
			into[at+j] += gradient
		}
	}
}

// memberGradient returns the gradient of a member m that the set holds count times.
func (s *gradientTerms) memberGradient(m, count float32) float32 {
	gradient := float32((s.level + float32(s.slope*m)) * count)
	if m == s.minimum {
		gradient += s.byMinimum
		s.byMinimum = 0
	}
	if m == s.maximum {
		gradient += s.byMaximum
		s.byMaximum = 0
	}
	return gradient
}

// scatterSenders propagates to the senders that are heard and to their relations.
func (r *Receivers) scatterSenders(terms []gradientTerms, o, at int, g *Gradients) {
	n := len(terms)
	begin, end := r.Senders.Range(int32(o), r.Kinds)
	for e := begin; e < end; e++ {
		u, q := (r.StateOffset+int(r.Senders.Rows[e]))*r.Dim+at, int(r.Senders.Relations[e])*r.Dim+at
		scatterProduct(terms, r.States[u:u+n], r.RelationEmbeddings[q:q+n], g.States[u:u+n], g.RelationEmbeddings[q:q+n])
	}
}

// scatterProduct propagates to the state x and the relation embedding w of a message x*w.
func scatterProduct(terms []gradientTerms, x, w, gx, gw []float32) {
	x, w, gx, gw = x[:len(terms)], w[:len(terms)], gx[:len(terms)], gw[:len(terms)]
	for j := range terms {
		a, b := x[j], w[j]
		gradient := terms[j].memberGradient(a*b, 1)
		gx[j] += float32(gradient * b)
		gw[j] += float32(gradient * a)
	}
}
