package calibration

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"tagnet/formats/metrics"
)

// Candidate is one of the best candidates of a query.
type Candidate struct {
	// Query identifies the query. Relation is the query's, in [0, 2R).
	Query    int64
	Relation int32
	// Score is the candidate's logit; True reports whether it is an answer.
	Score float32
	True  bool
}

// MinQueries is the least number of queries with which a relation gets parameters of its own.
const MinQueries = 20

// ErrNoCandidates is the error of Fit for a sample without candidates.
var ErrNoCandidates = errors.New("there are no candidates to fit probabilities to")

// Fit returns a calibration that is fitted to a sample, whose order changes nothing. relations are the names of the
// base relations by id. The caller sets Weights, Split and TopK. Candidates whose score is not finite are left out.
func Fit(sample []Candidate, relations []string) (*Calibration, error) {
	sample = slices.DeleteFunc(slices.Clone(sample), func(c Candidate) bool {
		return math.IsInf(float64(c.Score), 0) || math.IsNaN(float64(c.Score))
	})
	if len(sample) == 0 {
		return nil, ErrNoCandidates
	}
	sortSample(sample)
	if first, last := sample[0].Relation, sample[len(sample)-1].Relation; first < 0 || int(last) >= 2*len(relations) {
		return nil, fmt.Errorf("fitting a calibration: relations %d to %d, want 0 to %d", first, last, 2*len(relations)-1)
	}
	s := newScale(sample)
	groups := group(sample, s)
	whole := fitWhole(join(groups, everyFold))
	c := &Calibration{FormatVersion: FormatVersion, Whole: s.restore(whole.Line), Strength: chooseStrength(groups), Relations: []Relation{}}
	for _, g := range groups {
		c.Queries += g.Queries
		c.Candidates += g.Candidates
		c.True += g.True
		if c.Strength == 0 || g.Queries < MinQueries {
			continue
		}
		r := Relation{ID: g.relation, Name: relations[int(g.relation)%len(relations)], Direction: metrics.Tail, Counts: g.Counts}
		if int(g.relation) >= len(relations) {
			r.Direction = metrics.Head
		}
		r.Line = s.restore(fit(g.points(everyFold), whole.worth(c.Strength)))
		c.Relations = append(c.Relations, r)
	}
	c.BaseRate = c.Rate()
	c.index()
	return c, nil
}

// sortSample orders a sample by relation, so that sums over it do not depend on where its candidates were scored.
func sortSample(sample []Candidate) {
	slices.SortFunc(sample, func(a, b Candidate) int {
		if c := cmp.Or(cmp.Compare(a.Relation, b.Relation), cmp.Compare(a.Query, b.Query), cmp.Compare(b.Score, a.Score)); c != 0 {
			return c
		}
		switch {
		case a.True == b.True:
			return 0
		case a.True:
			return -1
		}
		return 1
	})
}

// whole is the line of all points, and the information of an average one about it.
type whole struct {
	Line
	information matrix
}

// fitWhole fits the line of all points. Its prior is worth one candidate: it lies at the share of true points, and says
// that the score tells nothing.
func fitWhole(points []point) whole {
	n := 0
	for _, p := range points {
		if p.true {
			n++
		}
	}
	rate := float64(n+1) / float64(len(points)+2)
	w := rate * (1 - rate)
	p := prior{mean: Line{Intercept: logit(rate)}, precision: matrix{aa: w, bb: w}}
	line := fit(points, p)
	_, _, h := objective(points, p, line)
	return whole{line, h.times(1 / float64(len(points)+1))}
}

// worth returns the prior of a relation that has the weight of so many candidates.
func (w whole) worth(candidates float64) prior {
	return prior{mean: w.Line, precision: w.information.times(candidates)}
}
