package discovery

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"tagnet/model/random"
)

// MinTrue is the fewest validation facts that a Model is fitted to.
const MinTrue = 20

// ErrTooFew is the error of fitting to fewer than MinTrue validation facts.
var ErrTooFew = errors.New("too few validation facts among what was listed")

// Model turns what two queries say of a fact into a probability. It is not changed once it is made, and may be used concurrently.
type Model struct {
	FormatVersion int `json:"format_version"`
	// Listed counts the facts that it was fitted to, True those of the validation split among them; Held counts the facts of
	// that split that could have been listed, and Facts those of the graph.
	Listed int64 `json:"listed"`
	True   int64 `json:"true"`
	Held   int64 `json:"held_out"`
	Facts  int64 `json:"facts"`
	// Missing is the number of missing facts that probabilities presume, as a share of the graph's facts.
	Missing float64 `json:"missing"`
	// Names are those of the features.
	Names   []string `json:"features"`
	Weights Weights  `json:"regression"`
	Curve   Curve    `json:"curve"`
}

// FormatVersion is the version of the files of a model.
const FormatVersion = 1

// MostObservations is about the most facts that weights are fitted to, besides the true ones.
const MostObservations = 200_000

// Sample decides which false facts weights are fitted to: each with the same probability, by its ids alone.
type Sample struct {
	// Rate is the share of false facts that are taken.
	Rate float64
	Seed uint64
}

// SampleOf returns the sample of at most so many facts.
func SampleOf(facts int64) Sample {
	return Sample{Rate: min(1, float64(MostObservations)/float64(max(1, facts)))}
}

// Takes reports whether a fact is in the sample.
func (s Sample) Takes(f *Fact) bool {
	if f.Held == Valid {
		return true
	}
	return f.Held == New && float64(random.Mix(random.Seed(s.Seed, uint64(f.Head), uint64(f.Relation), uint64(f.Tail)))>>11)/(1<<53) < s.Rate
}

// Fit fits the weights to a sample, whose order does not matter; the curve is to be added.
func (s Sample) Fit(sample []Observation, relations int) (*Model, error) {
	slices.SortFunc(sample, func(a, b Observation) int {
		return cmp.Or(cmp.Compare(a.Head, b.Head), cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Tail, b.Tail))
	})
	m := &Model{FormatVersion: FormatVersion, Names: FeatureNames[:]}
	for i := range sample {
		if sample[i].True {
			m.True++
		}
	}
	if m.True < MinTrue {
		return nil, fmt.Errorf("%w: %d, want %d", ErrTooFew, m.True, MinTrue)
	}
	m.Weights = *regress(sample, relations, 1/s.Rate)
	return m, nil
}

// LogOdds returns the log odds by which facts are ordered, before the curve.
func (m *Model) LogOdds(f *Fact, x *Features) float64 { return m.Weights.LogOdds(f.Relation, x) }

// Probability returns that of a fact with such log odds, if the missing facts are the share missing of the graph's; 0 is the share
// that the validation split had.
func (m *Model) Probability(logOdds, missing float64) float64 {
	p := m.Curve.Probability(logOdds)
	if missing == 0 || missing == m.Missing {
		return p
	}
	return 1 / (1 + math.Exp(-(math.Log(p/(1-p)) + math.Log(missing/m.Missing))))
}

// Check returns an error for a file that this program never writes.
func (m *Model) Check() error {
	n := len(FeatureNames)
	w := m.Weights
	switch {
	case m.FormatVersion != FormatVersion:
		return fmt.Errorf("format_version is %d, this program reads %d", m.FormatVersion, FormatVersion)
	case !slices.Equal(m.Names, FeatureNames[:]) || len(w.Weights) != n || len(w.Means) != n || len(w.Deviations) != n:
		return fmt.Errorf("%d features, %d weights, %d means and %d deviations, want %d", len(m.Names), len(w.Weights), len(w.Means), len(w.Deviations), n)
	case len(m.Curve) == 0:
		return errors.New("curve is empty")
	case !(m.Missing > 0):
		return fmt.Errorf("missing is %v, want more than 0", m.Missing)
	}
	return nil
}
