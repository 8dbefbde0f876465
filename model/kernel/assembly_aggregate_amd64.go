package kernel

// zeros stands in for rows that are nil.
var zeros [128]float32

// bothLanes are the columns of the stripe that may take two lanes, each one half of it.
const bothLanes = 64

// takes says whether the assembly does this run: DistMult and PNA, whole stripes.
func (s *assembly) takes(r *Receivers) bool {
	return r.Message == DistMult && r.Reduction == PNA && r.laneDim()%s.stripes[len(s.stripes)-1].columns == 0
}

// Pairs is true where a stripe takes both lanes.
func (s *assembly) FusesLanes(message Message, reduction Reduction, dim int) bool {
	return message == DistMult && reduction == PNA && 2*dim == bothLanes && s.stripes[0].columns == bothLanes
}

// eachStripe divides the columns of r, the widest stripes first.
func (s *assembly) eachStripe(r *Receivers, each func(p stripe, at int)) {
	at, lane := 0, r.laneDim()
	for _, p := range s.stripes {
		if p.columns > lane && (p.columns != bothLanes || p.columns != r.Dim || r.lanes() != 2) {
			continue
		}
		for ; at%lane+min(p.columns, lane) <= lane && at+p.columns <= r.Dim; at += p.columns {
			each(p, at)
		}
	}
}

// from is where a stripe begins in the first row of a table, nil where the table has none.
func from(table []float32, at int) *float32 {
	if len(table) <= at {
		return nil
	}
	return &table[at]
}

func first[T any](list []T) *T {
	if len(list) == 0 {
		return nil
	}
	return &list[0]
}

// boundary is the row that every set starts with, and a second one for max and min.
func (r *Receivers) boundary(at int) (initial, second *float32) {
	if r.Initial == nil {
		return &zeros[0], &zeros[0]
	}
	if r.EmptyMessages {
		return &r.Initial[at], &zeros[0]
	}
	return &r.Initial[at], &r.Initial[at]
}

// degrees is the degree message and how often the sets hold it, nil where they don't.
func (r *Receivers) degrees(at int) (degree, copies *float32) {
	if r.DegreeMessage == nil || r.Copies == nil {
		return nil, nil
	}
	return &r.DegreeMessage[at], &r.Copies[0]
}

// Aggregate does DistMult with PNA in assembly where the columns are whole stripes. Senders
// and relations are read without a check that such rows exist.
func (s *assembly) Aggregate(r *Receivers, features []float32) {
	n := r.Count()
	if !s.takes(r) || n == 0 {
		s.portable.Aggregate(r, features)
		return
	}
	lane, size := r.laneDim(), len(features)/r.lanes()
	s.eachStripe(r, func(p stripe, at int) {
		half := p.columns / 2
		if p.columns > lane {
			half = size
		}
		own, stride := from(r.Previous, at), 4*r.Dim
		if own == nil {
			own, stride = &zeros[0], 0
		}
		initial, second := r.boundary(at)
		degree, copies := r.degrees(at)
		senders := &r.Senders
		p.aggregate(n, &r.Rows[0], &r.FeatureRows[:n][0], &senders.Offsets[0], &senders.Offsets[r.Kinds], first(senders.Rows), first(senders.Relations), len(senders.Rows)-1,
			from(r.States, r.StateOffset*r.Dim+at), from(r.RelationEmbeddings, at), own, stride,
			initial, second, degree, copies, &r.MeanFactor[0], &features[at/lane*size+at%lane], 4*r.Dim, 4*lane, 4*half)
	})
}

// AggregateBackward does what Aggregate does in assembly, but for the boundary's gradient:
// only the source has one.
func (s *assembly) AggregateBackward(r *Receivers, features, gradient []float32, g *Gradients) {
	n := r.Count()
	if !s.takes(r) || n == 0 {
		s.portable.AggregateBackward(r, features, gradient, g)
		return
	}
	s.eachStripe(r, func(p stripe, at int) {
		initial, second := r.boundary(at)
		degree, copies := r.degrees(at)
		senders := &r.Senders
		p.backward(n, &r.Rows[0], &r.FeatureRows[:n][0], &senders.Offsets[0], &senders.Offsets[r.Kinds], first(senders.Rows), first(senders.Relations), len(senders.Rows)-1,
			from(r.States, r.StateOffset*r.Dim+at), from(r.RelationEmbeddings, at),
			like(g.States, r.States, r.StateOffset*r.Dim+at), like(g.RelationEmbeddings, r.RelationEmbeddings, at), from(g.Previous, at),
			initial, second, degree, like(g.DegreeMessage, r.DegreeMessage, at), copies, &r.MeanFactor[0],
			&features[at], &gradient[at], 4*r.Dim, smallestDeviation)
	})
	if r.Initial != nil && g.Initial != nil {
		backInitials(r, features, gradient, g.Initial)
	}
}

// like is from, for a gradient that must have the length of what it is the gradient of.
func like(gradient, table []float32, at int) *float32 { return from(gradient[:len(table)], at) }

// backInitials adds the boundary's gradient, receiver by receiver.
func backInitials(r *Receivers, features, gradient, into []float32) {
	s := sharesPool.Get().(*shares)
	defer sharesPool.Put(s)
	s.resize(r.Dim)
	width := r.Width()
	for i, at := range r.FeatureRows {
		row := int(at) * width
		s.start(r, features[row:row+width], gradient[row:row+width], r.MeanFactor[r.Rows[i]])
		s.backInitial(r, into)
	}
}
