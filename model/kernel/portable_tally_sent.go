package kernel

// place is where a dimension stands, as an array's length. Each has its own instance of
// addThree, where it is a constant: a message's entries are then read at known distances
// from its beginning, with neither a register for the place nor a check of the pointers.
type place interface {
	[0]struct{} | [3]struct{} | [6]struct{} | [9]struct{} | [12]struct{} | [15]struct{} |
		[18]struct{} | [21]struct{} | [24]struct{} | [27]struct{} | [30]struct{}
}

// add adds the messages. It goes over all of them for three dimensions at a time: these
// tallies then stay in registers, which those of more dimensions would not.
func (s *sent) add() {
	s.fetch()
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

// fetch reads both ends of every state: those that are in no near cache are then waited for
// together, and not a few at a time as they are added. What is read has to be put somewhere,
// for the compiler to leave that in.
func (s *sent) fetch() {
	var first, last float32
	for _, x := range s.x[:s.count] {
		first, last = x[0], x[tallied-1]
	}
	s.ends = [2]float32{first, last}
}

// addThree adds three dimensions of the messages. There has to be one; the loop is like that
// of twelveTerms, and for the same reason.
func addThree[P place](s *sent) {
	var p P
	j, tallies := len(p), &s.tallies
	a, b, c := tallies[j], tallies[j+1], tallies[j+2]
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
	tallies[j], tallies[j+1], tallies[j+2] = a, b, c
}

// addTwo adds two dimensions, the last ones.
func addTwo[P place](s *sent) {
	var p P
	j, tallies := len(p), &s.tallies
	a, b := tallies[j], tallies[j+1]
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
	tallies[j], tallies[j+1] = a, b
}
