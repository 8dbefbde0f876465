package evaluation

import (
	"tagnet/formats/metrics"
	"tagnet/model/answer"
	"tagnet/model/calibration"
)

// ReliabilityCounts are the sums behind a metrics.Calibration. They are integers, as those of Counts are.
type ReliabilityCounts struct {
	// Queries is the number of distinct queries.
	Queries       int64
	Before, After calibration.Reliability
}

func (c *ReliabilityCounts) merge(other *ReliabilityCounts) {
	c.Queries += other.Queries
	c.Before.Merge(&other.Before)
	c.After.Merge(&other.After)
}

// AddReliability counts the best candidates of a bundle's queries under a calibration: as many of each query as the calibration was
// fitted to, however many are listed beyond them.
func (g *Gatherer) AddReliability(s *answer.Scored, relations []string, c *calibration.Calibration) {
	if g.Reliability == nil {
		g.Reliability = map[string]*ReliabilityCounts{}
	}
	for _, q := range s.Queries {
		_, relation := Directed(relations, q.Relation)
		counts := entry(g.Reliability, relation)
		counts.Queries++
		q.Best = q.Best[:min(len(q.Best), c.TopK)]
		for candidate, isTrue := range q.Compared() {
			counts.Before.Add(calibration.Sigmoid(float64(candidate.Score)), isTrue)
			counts.After.Add(c.Probability(q.Relation, candidate.Score), isTrue)
		}
	}
}

// Calibration returns what AddReliability counted under a calibration, or nil if it counted no candidates.
func (g *Gatherer) Calibration(c *calibration.Calibration) *metrics.Calibration {
	var all ReliabilityCounts
	byRelation := map[string]metrics.RelationCalibration{}
	for relation, counts := range g.Reliability {
		all.merge(counts)
		total := counts.After.Total()
		if counts.Queries >= calibration.MinQueries && total.Candidates > 0 {
			byRelation[relation] = metrics.RelationCalibration{
				Queries: counts.Queries, Candidates: total.Candidates, True: total.True, Before: counts.Before.Error(), After: counts.After.Error(),
			}
		}
	}
	total := all.After.Total()
	if total.Candidates == 0 {
		return nil
	}
	return &metrics.Calibration{
		Split: c.Split, BaseRate: c.BaseRate, FittedBaseRate: c.Rate(), TopK: c.TopK,
		Candidates: total.Candidates, True: total.True, Observed: total.Observed(), Mean: total.Mean(),
		Before: all.Before.Table(), After: all.After.Table(),
		ByRelation: byRelation,
	}
}
