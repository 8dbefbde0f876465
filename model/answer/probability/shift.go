package probability

// Shift is how much higher facts of the training score than facts that it did not see, asking tails and asking heads.
type Shift struct {
	Tails float64 `json:"tails"`
	Heads float64 `json:"heads"`
}

// newShift returns the shift of labeled observations: 0 where all or none were held out.
func newShift(labeled []Labeled) Shift {
	return Shift{
		Tails: difference(labeled, func(o *Observation) float64 { return float64(o.Tails.Score) }),
		Heads: difference(labeled, func(o *Observation) float64 { return float64(o.Heads.Score) }),
	}
}

// moments are the number of facts' scores, their sum, and the sum of their squares.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += x * x
}

// deviation returns the sum of the squared differences from the mean.
func (m *moments) deviation() float64 { return m.squares - m.sum*m.sum/m.n }

// difference returns by how much the scores of facts that training saw exceed the scores of held-out facts of the same
// relation, on average: 0 if they do not, and less if chance may be why (James and Stein, 1961).
func difference(labeled []Labeled, score func(*Observation) float64) float64 {
	seen, held := map[int32]*moments{}, map[int32]*moments{}
	var relations []int32 // in the order of the facts: sums do not depend on a map's
	for i := range labeled {
		o, sums := &labeled[i].Observation, seen
		if seen[o.Relation] == nil {
			seen[o.Relation], held[o.Relation] = &moments{}, &moments{}
			relations = append(relations, o.Relation)
		}
		if labeled[i].HeldOut {
			sums = held
		}
		sums[o.Relation].add(score(o))
	}
	var weight, sum, deviation, freedom, squares float64
	for _, r := range relations {
		s, h := seen[r], held[r]
		if s.n == 0 || h.n == 0 {
			continue
		}
		// Weighted by the inverse variance of a relation's difference, up to the common variance of scores.
		w := s.n * h.n / (s.n + h.n)
		weight += w
		sum += w * (s.sum/s.n - h.sum/h.n)
		squares += w * w * (1/s.n + 1/h.n)
		deviation += s.deviation() + h.deviation()
		freedom += s.n + h.n - 2
	}
	if !(sum > 0) || !(freedom > 0) {
		return 0
	}
	// James and Stein shrink the difference by its variance.
	shift, variance := sum/weight, squares/(weight*weight)*deviation/freedom
	return shift * max(0, 1-variance/(shift*shift))
}
