package kernel

// zeros replaces rows that are nil.
var zeros [128]float32

// supports reports whether the assembly handles these receivers: DistMult with PNA, in whole stripes.
func (s *assembly) supports(r *Receivers) bool {
	return r.Message == DistMult && r.Reduction == PNA && r.Dim%s.stripes[len(s.stripes)-1].columns == 0
}

// eachStripe covers the columns of r with stripes, the widest first.
func (s *assembly) eachStripe(r *Receivers, each func(p stripe, at int)) {
	at := 0
	for _, p := range s.stripes {
		for ; at+p.columns <= r.Dim; at += p.columns {
			each(p, at)
		}
	}
}

// rowAt returns the address of an entry of a table, nil where the table is shorter.
func rowAt(table []float32, at int) *float32 {
	if len(table) <= at {
		return nil
	}
	return &table[at]
}

// first returns the address of a list's first entry, nil for an empty list.
func first[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// boundary returns the row that every set starts with, and a second one for max and min.
func (r *Receivers) boundary(at int) (initial, second *float32) {
	if r.Initial == nil {
		return &zeros[0], &zeros[0]
	}
	if r.EmptyMessages {
		return &r.Initial[at], &zeros[0]
	}
	return &r.Initial[at], &r.Initial[at]
}

// previous returns the address and the stride of the receivers' previous states, or of a row of zeros.
func (r *Receivers) previous(at int) (previous *float32, stride int) {
	if previous = rowAt(r.Previous, at); previous == nil {
		return &zeros[0], 0
	}
	return previous, 4 * r.Dim
}

// degrees returns the degree message and the number of its copies in each set, or nil.
func (r *Receivers) degrees(at int) (degree, copies *float32) {
	if r.DegreeMessage == nil || r.Copies == nil {
		return nil, nil
	}
	return &r.DegreeMessage[at], &r.Copies[0]
}

// Aggregate handles DistMult with PNA, Sum and Mean in assembly where the columns are whole stripes. The
// assembly does not check that the rows of senders and relations exist.
func (s *assembly) Aggregate(r *Receivers, features []float32) {
	n := r.Count()
	switch {
	case n > 0 && s.supportsSums(r):
		s.aggregateSums(r, features)
		return
	case !s.supports(r) || n == 0:
		s.portable.Aggregate(r, features)
		return
	}
	s.eachStripe(r, func(p stripe, at int) {
		previous, stride := r.previous(at)
		initial, second := r.boundary(at)
		degree, copies := r.degrees(at)
		senders := &r.Senders
		p.aggregate(n, &r.Rows[0], &r.FeatureRows[:n][0], &senders.Offsets[0], &senders.Offsets[r.Kinds], first(senders.Rows), first(senders.Relations),
			len(senders.Rows)-1,
			rowAt(r.States, r.StateOffset*r.Dim+at), rowAt(r.RelationEmbeddings, at), previous, stride,
			initial, second, degree, copies, &r.MeanFactor[0], &features[at], 4*r.Dim)
	})
}

// AggregateBackward uses assembly where Aggregate does with PNA, except for the boundary's gradient,
// which only the source has.
func (s *assembly) AggregateBackward(r *Receivers, features, gradient []float32, g *Gradients) {
	n := r.Count()
	switch {
	case s.supportsSums(r):
		s.backwardSums(r, features, gradient, g)
		return
	case !s.supports(r) || n == 0:
		s.portable.AggregateBackward(r, features, gradient, g)
		return
	}
	s.eachStripe(r, func(p stripe, at int) {
		initial, second := r.boundary(at)
		degree, copies := r.degrees(at)
		senders := &r.Senders
		p.backward(n, &r.Rows[0], &r.FeatureRows[:n][0], &senders.Offsets[0], &senders.Offsets[r.Kinds], first(senders.Rows), first(senders.Relations),
			len(senders.Rows)-1,
			rowAt(r.States, r.StateOffset*r.Dim+at), rowAt(r.RelationEmbeddings, at),
			gradientAt(g.States, r.States, r.StateOffset*r.Dim+at), gradientAt(g.RelationEmbeddings, r.RelationEmbeddings, at), rowAt(g.Previous, at),
			initial, second, degree, gradientAt(g.DegreeMessage, r.DegreeMessage, at), copies, &r.MeanFactor[0],
			&features[at], &gradient[at], 4*r.Dim, smallestDeviation)
	})
	if r.Initial != nil && g.Initial != nil {
		scatterInitials(r, features, gradient, g.Initial)
	}
}

// gradientAt returns the address of an entry of a gradient, after checking that the gradient is as long as its table.
func gradientAt(gradient, table []float32, at int) *float32 { return rowAt(gradient[:len(table)], at) }

// scatterInitials adds the boundary's gradient of every receiver.
func scatterInitials(r *Receivers, features, gradient, into []float32) {
	s := setGradientPool.Get().(*setGradient)
	defer setGradientPool.Put(s)
	s.resize(r.Dim)
	width := r.Width()
	for i, at := range r.FeatureRows {
		row := int(at) * width
		s.start(r, int(r.Rows[i]), features[row:row+width], gradient[row:row+width])
		s.scatterInitial(r, into)
	}
}
