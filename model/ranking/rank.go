package ranking

// Rank is the place of one answer among its candidates, 1 being the best.
type Rank struct {
	// Pessimistic counts every tie against the answer (the paper's rank), Optimistic none.
	Pessimistic, Optimistic int64
	// Mean is the middle of the two: a whole or a half number.
	Mean float64
	// Candidates is how many entities were ranked, the answer among them.
	Candidates int64
}

// Tied tells whether another candidate has exactly the answer's score.
func (r Rank) Tied() bool { return r.Pessimistic != r.Optimistic }

// Filtered ranks the answer by its score among all entities but the other known answers.
// scores has an entry per entity; known lists the known answers of the query in ascending
// order, and may or may not hold the answer itself.
//
// A score that is not a number never helps: the answer's puts it last, another entity's
// counts as higher than the answer's.
func Filtered(scores []float32, answer int32, known []int32) Rank {
	own := scores[answer]
	var notLower, higher int64
	for _, score := range scores {
		if !(score < own) {
			notLower++
		}
		if !(score <= own) {
			higher++
		}
	}
	candidates := int64(len(scores))
	previous := int32(-1)
	for _, entity := range known {
		if entity == answer || entity == previous || int(entity) >= len(scores) {
			continue
		}
		previous = entity
		candidates--
		if !(scores[entity] < own) {
			notLower--
		}
		if !(scores[entity] <= own) {
			higher--
		}
	}
	// The answer itself is in notLower, and so stands for the 1 that a rank starts from. It
	// is in higher only where it is not a number.
	rank := Rank{Pessimistic: notLower, Optimistic: higher + 1, Candidates: candidates}
	if own != own {
		rank.Optimistic = higher
	}
	rank.Mean = float64(rank.Pessimistic+rank.Optimistic) / 2
	return rank
}
