package evaluate

import (
	"tagnet/model/calibration"
	"tagnet/model/ranker"

	"tagnet/formats/check"
)

// Calibration is what metrics.json says about probabilities. It compares the best candidates of the split's queries,
// those of predictions, with its facts. Other known answers are left out, as in filtered ranks.
type Calibration struct {
	// Split is the split that the calibration was fitted to.
	Split string `json:"split"`
	// BaseRate is the share of true ones among the TopK best new answers that probabilities presume, FittedBaseRate that of
	// Split.
	BaseRate       float64 `json:"base_rate"`
	FittedBaseRate float64 `json:"fitted_base_rate"`
	TopK           int     `json:"top_k"`
	// Observed is the share of true ones among Candidates, the answers that are compared here, Mean their mean probability.
	Candidates int64   `json:"candidates"`
	True       int64   `json:"true"`
	Observed   float64 `json:"observed"`
	Mean       float64 `json:"mean"`
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

// Check returns an error for numbers that no comparison of probabilities with facts has.
func (c Calibration) Check() error {
	return check.First(check.Share("base_rate", c.BaseRate), check.Share("fitted_base_rate", c.FittedBaseRate), check.Count("top_k", c.TopK),
		check.Between("true", c.True, 0, c.Candidates), check.Share("observed", c.Observed), check.Share("mean", c.Mean),
		check.Value("before", c.Before), check.Value("after", c.After), check.Map("by_relation", c.ByRelation))
}

// Check returns an error for numbers that no table of bins has.
func (r Reliability) Check() error {
	return check.First(check.Share("expected_calibration_error", r.Error), check.List("bins", r.Bins))
}

// Check returns an error for numbers that no relation has.
func (c RelationCalibration) Check() error {
	return check.First(check.Count("queries", c.Queries), check.Between("true", c.True, 0, c.Candidates), check.Share("before", c.Before), check.Share("after", c.After))
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
func (g *Gatherer) AddReliability(s *ranker.Scored, relations []string, c *calibration.Calibration) {
	if g.Reliability == nil {
		g.Reliability = map[string]*ReliabilityCounts{}
	}
	for _, q := range s.Queries {
		_, relation := Directed(relations, q.Relation)
		counts := entry(g.Reliability, relation)
		counts.Queries++
		for candidate, isTrue := range q.Compared() {
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
		total := counts.After.Total()
		if counts.Queries >= calibration.MinQueries && total.Candidates > 0 {
			byRelation[relation] = RelationCalibration{counts.Queries, total.Candidates, total.True, counts.Before.Error(), counts.After.Error()}
		}
	}
	total := all.After.Total()
	if total.Candidates == 0 {
		return nil
	}
	return &Calibration{
		Split: c.Split, BaseRate: c.BaseRate, FittedBaseRate: c.Rate(), TopK: c.TopK,
		Candidates: total.Candidates, True: total.True, Observed: total.Observed(), Mean: total.Mean(),
		Before: Reliability{all.Before.Error(), all.Before.Rows()}, After: Reliability{all.After.Error(), all.After.Rows()},
		ByRelation: byRelation,
	}
}
