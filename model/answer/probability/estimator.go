package probability

import (
	"cmp"
	"fmt"
)

// DefaultMissing is the share of the graph's facts that is presumed to be missing.
const DefaultMissing = .05

// Estimator gives probabilities that presume a number of missing facts. It may be used concurrently.
type Estimator struct {
	model  *Model
	around *Surroundings
	// byBlock has the probability of each block of the curve.
	byBlock []float64
	// Presumed is the share of the graph's facts that was presumed to be missing. Bound is the largest possible share,
	// if all candidates that are most like facts are true. Missing, the lower of both, gives the probabilities.
	Presumed, Bound, Missing float64
}

// Estimator returns the model's estimator for a number of missing facts, as a share of the graph's facts. The
// surroundings belong to the model's graph. The error says what is wrong with the share.
func (m *Model) Estimator(around *Surroundings, missing float64) (*Estimator, error) {
	if err := CheckMissing(missing); err != nil {
		return nil, err
	}
	if len(m.Labeled) != around.graph.BaseRelations {
		return nil, fmt.Errorf("probabilities of %d relations do not fit a graph of %d", len(m.Labeled), around.graph.BaseRelations)
	}
	labeled, _ := m.Curve.totals()
	// The facts of the graph that would be among the best of one of their queries.
	counted := float64(m.Facts) * float64(labeled) / float64(m.Observed)
	c := m.Curve.meanLabeled()
	most := float64(labeled) * (1 - c) / (m.Sample.Rate * c) // Elkan and Noto: c estimates n / (n + b m) from below
	e := &Estimator{model: m, around: around, Presumed: missing, Bound: most / counted}
	e.Missing = min(e.Presumed, e.Bound)
	e.byBlock = m.Curve.probabilities(e.Missing * counted * m.Sample.Rate)
	return e, nil
}

// CheckMissing returns an error for a share of missing facts that no estimator presumes.
func CheckMissing(share float64) error {
	if !(share > 0 && share <= 1) {
		return fmt.Errorf("presuming that %v of the graph's facts are missing, want more than 0 and at most 1", share)
	}
	return nil
}

// Limit returns a sentence on the largest share that the data allow.
func (e *Estimator) Limit() string {
	const most = "if the surest are all true, at most %s%% of the graph are missing"
	if e.Bound < e.Presumed {
		return fmt.Sprintf(most+"; probabilities presume that, not %s%%", percent(e.Bound), percent(e.Presumed))
	}
	return fmt.Sprintf(most+"; probabilities presume %s%%", percent(e.Bound), percent(e.Presumed))
}

// percent returns a share as a number of percent, a small one with one digit that is not zero.
func percent(share float64) string {
	if share < .0005 {
		return fmt.Sprintf("%.1g", 100*share)
	}
	return fmt.Sprintf("%.1f", 100*share)
}

// Estimate is the model's statement about a fact. Lists are in the order of Compare.
type Estimate struct {
	// Probability is the probability that the fact is true, given that the graph does not state it. It is 0 unless
	// HasProbability: too few facts of the relation are known, or the fact is of an entity with itself.
	Probability    float64
	HasProbability bool
	// LogOdds are the regression's log odds, which tell facts of equal probability apart.
	LogOdds float64
}

// Compare orders estimates, the surest first: by probability, then by log odds. Those without a claim are last.
func (e Estimate) Compare(o Estimate) int {
	return cmp.Or(cmp.Compare(o.claim(), e.claim()), cmp.Compare(o.Probability, e.Probability), cmp.Compare(o.LogOdds, e.LogOdds))
}

func (e Estimate) claim() int {
	if e.HasProbability {
		return 1
	}
	return 0
}

// Estimate estimates an observation. Its ids must belong to the graph, and its scores be numbers. A fact that neither
// query ranks among its best K has the lowest probability of all.
func (e *Estimator) Estimate(o *Observation) Estimate {
	m := e.model
	group, claimed := m.group(o)
	claimed = claimed && !o.ofItself() // see Facts
	x := e.around.features(o, m.Sample.K)
	estimate := Estimate{HasProbability: claimed, LogOdds: m.Folds[m.Sample.fold(o.Fact)].logOdds(&x, group)}
	if !claimed {
		return estimate
	}
	block := 0
	if o.within(m.Sample.K) {
		block = m.Curve.block(estimate.LogOdds)
	}
	estimate.Probability = e.byBlock[block]
	return estimate
}
