package evaluate

import (
	"tagnet/model/calibration"
	"tagnet/stages/score"
)

// Calibration is what metrics.json says about probabilities. It compares the best candidates of the split's queries,
// those of predictions, with its facts. Other known answers are left out, as in filtered ranks.
type Calibration struct {
	// Split is the split that the calibration was fitted to.
	Split string `json:"split"`
	// BaseRate is the share of true candidates that probabilities presume, FittedBaseRate that of Split. Observed is the one
	// found here.
	BaseRate       float64 `json:"base_rate"`
	FittedBaseRate float64 `json:"fitted_base_rate"`
	Observed       float64 `json:"observed"`
	Candidates     int64   `json:"candidates"`
	True           int64   `json:"true"`
	// Before takes the sigmoids of the scores for probabilities, After are the calibrated ones.
	Before Reliability `json:"before"`
	After  Reliability `json:"after"`
	// ByRelation has the base relations with at least calibration.MinQueries distinct queries, both directions together.
	ByRelation map[string]RelationCalibration `json:"by_relation"`
}

// Reliability is a reliability table with its expected calibration error.
type Reliability struct {
	Error float64           `json:"expected_calibration_error"`
	Bins  []calibration.Row `json:"bins"`
}

// RelationCalibration has the expected calibration errors of a relation.
type RelationCalibration struct {
	Queries    int64   `json:"queries"`
	Candidates int64   `json:"candidates"`
	True       int64   `json:"true"`
	Before     float64 `json:"before"`
	After      float64 `json:"after"`
}

// ReliabilityCounts are the sums behind a Calibration. They are integers, as those of Counts are.
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

// AddReliability counts the best candidates of a bundle's queries under a calibration.
func (g *Gatherer) AddReliability(s *score.Scored, relations []string, c *calibration.Calibration) {
	if g.Reliability == nil {
		g.Reliability = map[string]*ReliabilityCounts{}
	}
	for _, q := range s.Queries {
		_, relation := Directed(relations, q.Relation)
		counts := entry(g.Reliability, relation)
		counts.Queries++
		answers := make(map[int32]bool, len(q.Results))
		for _, r := range q.Results {
			answers[r.Answer] = true
		}
		for _, candidate := range q.Best {
			isTrue := answers[candidate.Entity]
			if candidate.Known && !isTrue {
				continue
			}
			counts.Before.Add(calibration.Sigmoid(float64(candidate.Score)), isTrue)
			counts.After.Add(c.Probability(q.Relation, candidate.Score), isTrue)
		}
	}
}

// Calibration returns what AddReliability counted under a calibration, or nil if it counted no candidates.
func (g *Gatherer) Calibration(c *calibration.Calibration) *Calibration {
	var all ReliabilityCounts
	byRelation := map[string]RelationCalibration{}
	for relation, counts := range g.Reliability {
		all.merge(counts)
		candidates, isTrue := counts.After.Counts()
		if counts.Queries >= calibration.MinQueries && candidates > 0 {
			byRelation[relation] = RelationCalibration{counts.Queries, candidates, isTrue, counts.Before.Error(), counts.After.Error()}
		}
	}
	candidates, isTrue := all.After.Counts()
	if candidates == 0 {
		return nil
	}
	return &Calibration{
		Split: c.Split, BaseRate: c.BaseRate, FittedBaseRate: c.Rate(), Observed: float64(isTrue) / float64(candidates),
		Candidates: candidates, True: isTrue,
		Before: Reliability{all.Before.Error(), all.Before.Rows()}, After: Reliability{all.After.Error(), all.After.Rows()},
		ByRelation: byRelation,
	}
}
