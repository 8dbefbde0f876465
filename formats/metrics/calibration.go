package metrics

import "tagnet/formats/check"

// Calibration is what metrics.json says about probabilities. It compares the TopK best candidates of the split's queries,
// however many of them predictions has, with its facts. Other known answers are left out, as in filtered ranks.
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
	// ByRelation has the base relations with enough distinct queries, both directions together.
	ByRelation map[string]RelationCalibration `json:"by_relation"`
}

// Reliability is a reliability table with its expected calibration error.
type Reliability struct {
	Error float64 `json:"expected_calibration_error"`
	Bins  []Bin   `json:"bins"`
}

// Bin is the part of a reliability table with the probabilities from From to To.
type Bin struct {
	From       float64 `json:"from"`
	To         float64 `json:"to"`
	Candidates int64   `json:"candidates"`
	// Mean is the mean probability of the candidates, Observed the share of them that is true; both are 0 without candidates.
	Mean     float64 `json:"mean"`
	Observed float64 `json:"observed"`
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

// Check returns an error for numbers that no bin has.
func (b Bin) Check() error {
	return check.First(check.Share("from", b.From), check.Share("to", b.To), check.Count("candidates", b.Candidates), check.Share("mean", b.Mean), check.Share("observed", b.Observed))
}
