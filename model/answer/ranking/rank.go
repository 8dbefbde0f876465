package ranking

// Rank is the rank of one answer among its candidates, from 1, by each way of counting ties: Pessimistic,
// Optimistic and Mean.
type Rank struct {
	// Pessimistic counts every tie against the answer (the paper's rank), Optimistic for it.
	Pessimistic, Optimistic int64
	// Candidates is the number of entities that were ranked, the answer included.
	Candidates int64
}

// Mean returns the mean of the pessimistic and the optimistic rank: an integer or a half.
func (r Rank) Mean() float64 { return float64(r.Pessimistic+r.Optimistic) / 2 }

// Tied reports whether another candidate has exactly the answer's score.
func (r Rank) Tied() bool { return r.Pessimistic != r.Optimistic }

// Filtered ranks the answer by its score among all entities except the other known answers (the filtered setting).
// scores has an entry per entity; known lists the known answers of the query in ascending order, with or without
// the answer itself.
//
// A NaN never improves a rank: an answer with a NaN is last, and another entity's NaN counts as higher than
// the answer's score.
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
	// Known answers leave the counts, each once; one without a score was never counted.
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
	// notLower counts the answer itself, which makes the rank start from 1; higher does so only if it is NaN.
	rank := Rank{Pessimistic: notLower, Optimistic: higher + 1, Candidates: candidates}
	if own != own { // NaN
		rank.Optimistic = higher
	}
	return rank
}

// Among ranks the answer by its score among negatives, each as often as it is listed. NaNs count as for Filtered.
func Among(scores []float32, answer int32, negatives []int32) Rank {
	own := scores[answer]
	rank := Rank{Pessimistic: 1, Optimistic: 1, Candidates: 1 + int64(len(negatives))}
	for _, entity := range negatives {
		if !(scores[entity] < own) {
			rank.Pessimistic++
		}
		if !(scores[entity] <= own) {
			rank.Optimistic++
		}
	}
	return rank
}
