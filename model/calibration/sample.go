package calibration

import "tagnet/model/answer"

// TopK is the number of candidates of a query that a calibration is fitted to: as many as score keeps by default.
const TopK = 10

// Sample returns the candidates of scored queries, of whose answers the known ones stand beside TopK new ones.
func Sample(scored *answer.Scored) []Candidate {
	var sample []Candidate
	for _, q := range scored.Queries {
		kept := 0
		for c, isTrue := range q.Compared() {
			if kept == TopK {
				break
			}
			kept++
			sample = append(sample, Candidate{Query: q.Row, Relation: q.Relation, Score: c.Score, True: isTrue})
		}
	}
	return sample
}
