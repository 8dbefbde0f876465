package kernel

// offset is the first dimension that addThree or addTwo accumulates, as an array's length. Each
// offset has its own instance of the generic function, in which it is a constant: a message's
// entries are then read at known distances from its beginning, without a register for the
// offset and without bounds checks. A loop over all dimensions of one message at a time takes
// one and a half times as long, three times where states are not in the second-level cache.
type offset interface {
	[0]struct{} | [3]struct{} | [6]struct{} | [9]struct{} | [12]struct{} | [15]struct{} |
		[18]struct{} | [21]struct{} | [24]struct{} | [27]struct{} | [30]struct{}
}

// add accumulates the messages. It passes over all of them for three dimensions at a time,
// whose accumulators fit into registers; more dimensions' would not.
func (s *messageBlock) add() {
	s.prefetch()
	addThree[[0]struct{}](s)
	addThree[[3]struct{}](s)
	addThree[[6]struct{}](s)
	addThree[[9]struct{}](s)
	addThree[[12]struct{}](s)
	addThree[[15]struct{}](s)
	addThree[[18]struct{}](s)
	addThree[[21]struct{}](s)
	addThree[[24]struct{}](s)
	addThree[[27]struct{}](s)
	addTwo[[30]struct{}](s)
}

// prefetch reads both ends of every state, so that cache misses overlap instead of delaying
// each pass. It stores what it reads to keep the compiler from removing the loads.
func (s *messageBlock) prefetch() {
	var first, last float32
	for _, x := range s.x[:s.count] {
		first, last = x[0], x[blockDims-1]
	}
	s.lastEnds = [2]float32{first, last}
}

// addThree accumulates three dimensions of at least one message. Its loop tests at the end for
// the reason given at twelveTerms.
func addThree[P offset](s *messageBlock) {
	var p P
	j, accumulators := len(p), &s.accumulators
	a, b, c := accumulators[j], accumulators[j+1], accumulators[j+2]
	xs, ws := s.x[:s.count], s.w[:s.count]
	x, w := xs[0], ws[0]
	for i := uint(1); ; i++ {
		a = a.with(float32(x[j] * w[j]))
		b = b.with(float32(x[j+1] * w[j+1]))
		c = c.with(float32(x[j+2] * w[j+2]))
		if i >= uint(len(xs)) {
			break
		}
		x, w = xs[i], ws[i]
	}
	accumulators[j], accumulators[j+1], accumulators[j+2] = a, b, c
}

// addTwo accumulates the last two dimensions.
func addTwo[P offset](s *messageBlock) {
	var p P
	j, accumulators := len(p), &s.accumulators
	a, b := accumulators[j], accumulators[j+1]
	xs, ws := s.x[:s.count], s.w[:s.count]
	x, w := xs[0], ws[0]
	for i := uint(1); ; i++ {
		a = a.with(float32(x[j] * w[j]))
		b = b.with(float32(x[j+1] * w[j+1]))
		if i >= uint(len(xs)) {
			break
		}
		x, w = xs[i], ws[i]
	}
	accumulators[j], accumulators[j+1] = a, b
}
