package mirror

import "math"

// CheckScores sets how many of each query's scores are NaN or infinite.
func (p *Batch) CheckScores(bad []int32) {
	for b := range p.Batch {
		bad[b] = 0
		for _, s := range p.Scores[b*p.Entities:][:p.Entities] {
			if s-s != 0 { // NaN
				bad[b]++
			}
		}
	}
}

// Rank sets five values for each answer: its score's bits, its distance, how many entities score not lower and how many higher, without
// the query's known answers beside it, and the number of entities that were ranked. A NaN counts against the answer.
func (p *Batch) Rank(answers []Answer, knownBegin, known, out []int32) {
	for i, a := range answers {
		scores := p.Scores[int(a.Query)*p.Entities:][:p.Entities]
		own := scores[a.Entity]
		candidates, notLower, higher := int32(0), int32(0), int32(0)
		count := func(entity, by int32) {
			candidates += by
			if !(scores[entity] < own) {
				notLower += by
			}
			if !(scores[entity] <= own) {
				higher += by
			}
		}
		for v := range int32(p.Entities) {
			count(v, 1)
		}
		for _, v := range known[knownBegin[a.Query]:knownBegin[a.Query+1]] {
			if v != a.Entity {
				count(v, -1)
			}
		}
		copy(out[5*i:], []int32{int32(math.Float32bits(own)), int32(p.reached(int(a.Query), a.Entity)), notLower, higher, candidates})
	}
}

// Best sets three values for each of the k candidates of highest score of each query: the entity, its score's bits and its distance.
// Equal scores are ordered by id. NaN comes last.
func (p *Batch) Best(k int, out []int32) {
	for b := range p.Batch {
		scores := p.Scores[b*p.Entities:][:p.Entities]
		taken := make([]bool, p.Entities)
		for i := range k {
			best := int32(-1)
			for v, s := range scores {
				if !taken[v] && (best < 0 || s > scores[best] || s == s && scores[best] != scores[best]) {
					best = int32(v)
				}
			}
			taken[best] = true
			copy(out[3*(b*k+i):], []int32{best, int32(math.Float32bits(scores[best])), int32(p.reached(b, best))})
		}
	}
}
