package kernel

// sums has the loops over one receiver's senders for DistMult with Sum or Mean, over some columns of every
// row. Tables and the sum point to the first of them, states to that of row StateOffset. bySum is the
// gradient that every message receives.
type sums struct {
	add      func(sum, states, embeddings *float32, senders, relations *int32, count, stride int)
	backward func(bySum, states, embeddings, byStates, byEmbeddings *float32, senders, relations *int32, count, stride int)
}

// addsUp reports whether the assembly adds up these receivers' messages: it takes whole vectors of
// one lane.
func (s *assembly) addsUp(r *Receivers) bool {
	return r.Message == DistMult && (r.Reduction == Sum || r.Reduction == Mean) && r.lanes() == 1 && r.Dim%s.floats == 0
}

// eachSum calls visit with the columns of a row, from one on, and the loops that take them.
func (s *assembly) eachSum(dim int, visit func(at int, by *sums)) {
	for at := 0; at < dim; {
		vectors := min((dim-at)/s.floats, len(s.sums))
		visit(at, &s.sums[vectors-1])
		at += vectors * s.floats
	}
}

// aggregateSums is Aggregate for Sum and Mean.
func (s *assembly) aggregateSums(r *Receivers, features []float32) {
	width, d := r.Width(), r.Dim
	for i, at := range r.FeatureRows {
		o, row := int(r.Rows[i]), features[int(at)*width:][:width:width]
		set := r.start(0, row)
		if copies := r.copies(o); copies > 0 {
			set.addCopies(r.DegreeMessage, copies)
		}
		if begin, end := r.Senders.Range(int32(o), r.Kinds); begin < end {
			senders, relations := r.Senders.Rows[begin:end], r.Senders.Relations[begin:end]
			s.eachSum(d, func(at int, by *sums) {
				by.add(&set.sum[at], &r.States[r.StateOffset*d+at], &r.RelationEmbeddings[at], &senders[0], &relations[0], len(senders), 4*d)
			})
		}
		set.finish(r.Reduction, r.MeanFactor[o])
		r.copyPrevious(o, 0, row)
	}
}

// backwardSums is AggregateBackward for Sum and Mean.
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
		set.start(r, features[int(at)*width:][:width], row, r.MeanFactor[o])
		set.scatterInitial(r, g.Initial)
		set.scatterCopies(r, g, o)
		if begin, end := r.Senders.Range(int32(o), r.Kinds); begin < end {
			senders, relations := r.Senders.Rows[begin:end], r.Senders.Relations[begin:end]
			s.eachSum(d, func(at int, by *sums) {
				first := r.StateOffset*d + at
				by.backward(&set.level[at], &r.States[first], &r.RelationEmbeddings[at], gradientAt(g.States, r.States, first), gradientAt(g.RelationEmbeddings, r.RelationEmbeddings, at),
					&senders[0], &relations[0], len(senders), 4*d)
			})
		}
	}
}
