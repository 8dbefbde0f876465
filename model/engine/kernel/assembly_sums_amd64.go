package kernel

import "slices"

// sumBackward is the loop of the backward pass over one receiver's senders for DistMult with Sum or Mean, over some
// columns of every row. Tables point to the first column, states to the first column of row StateOffset. bySum is the
// gradient that every message receives.
type sumBackward func(bySum, states, embeddings, byStates, byEmbeddings *float32, senders, relations *int32, count, stride int)

// supportsSums reports whether the assembly adds up these receivers' messages: DistMult's, in whole vectors.
func (s *assembly) supportsSums(r *Receivers) bool {
	return r.Message == DistMult && (r.Reduction == Sum || r.Reduction == Mean) && r.Dim%s.floats == 0
}

// aggregateSums aggregates by Sum or Mean.
func (s *assembly) aggregateSums(r *Receivers, features []float32) {
	n, senders := r.Count(), &r.Senders
	for at := 0; at < r.Dim; {
		stripe := s.sums[slices.IndexFunc(s.sums, func(stripe sumStripe) bool { return stripe.columns <= r.Dim-at })]
		previous, stride := r.previous(at)
		initial, _ := r.boundary(at)
		degree, copies := r.degrees(at)
		stripe.sum(n, &r.Rows[0], &r.FeatureRows[:n][0], &senders.Offsets[0], &senders.Offsets[r.Kinds], first(senders.Rows), first(senders.Relations),
			len(senders.Rows)-1,
			rowAt(r.States, r.StateOffset*r.Dim+at), rowAt(r.RelationEmbeddings, at), previous, stride,
			initial, degree, copies, &features[at], 4*r.Dim)
		at += stripe.columns
	}
	if r.Reduction != Mean {
		return
	}
	for i, at := range r.FeatureRows {
		scaleBy(features[(2*int(at)+1)*r.Dim:][:r.Dim], r.MeanFactor[r.Rows[i]])
	}
}

// eachSum divides the columns of a row among loops, and calls visit with the first column of each and its loop.
func (s *assembly) eachSum(dim int, visit func(at int, backward sumBackward)) {
	for at := 0; at < dim; {
		vectors := min((dim-at)/s.floats, len(s.sumsBackward))
		visit(at, s.sumsBackward[vectors-1])
		at += vectors * s.floats
	}
}

// backwardSums computes the gradients of aggregation by Sum or Mean.
func (s *assembly) backwardSums(r *Receivers, features, gradient []float32, g *Gradients) {
	set := setGradientPool.Get().(*setGradient)
	defer setGradientPool.Put(set)
	width, d := r.Width(), r.Dim
	set.resize(d)
	for i, at := range r.FeatureRows {
		o, row := int(r.Rows[i]), gradient[int(at)*width:][:width]
		if g.Previous != nil {
			s.Add(g.Previous[o*d:(o+1)*d], row[:d])
		}
		set.start(r, o, features[int(at)*width:][:width], row)
		set.scatterInitial(r, g.Initial)
		set.scatterCopies(r, g, o)
		if begin, end := r.Senders.Range(int32(o), r.Kinds); begin < end {
			senders, relations := r.Senders.Rows[begin:end], r.Senders.Relations[begin:end]
			s.eachSum(d, func(at int, backward sumBackward) {
				start := r.StateOffset*d + at
				backward(&set.level[at], &r.States[start], &r.RelationEmbeddings[at], gradientAt(g.States, r.States, start),
					gradientAt(g.RelationEmbeddings, r.RelationEmbeddings, at),
					&senders[0], &relations[0], len(senders), 4*d)
			})
		}
	}
}
