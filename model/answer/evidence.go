package answer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"tagnet/formats/names"
	"tagnet/model/answer/probability"
	"tagnet/model/graph"
)

// Said is a judged fact. Weight is how much it counts, as in probability.Judgment.
type Said struct {
	graph.Fact
	True   bool
	Weight float64
}

// Evidence is what judged facts tell of the number of facts that are missing. It has the places of facts, and of the
// best new answers of queries, as placed.
type Evidence struct {
	m      *Model
	said   []Said
	facts  map[graph.Fact]probability.Place
	rivals map[graph.Query][]probability.Place
}

// leastSaid is the least number of judged facts of a relation that tell of a share of its own, and of all facts that
// tell of the common one.
const leastSaid = 10

const (
	// ownDeviation is by how much the logarithm of a relation's own share deviates from the common one.
	ownDeviation = .3
	// mostDeviation is by how much it exceeds that of the bound that the data have, probability.OfRelation.Most.
	mostDeviation = .1
)

// placed are judged facts that were observed: the next verdict takes few propagations.
type placed struct {
	sync.Mutex
	of    *probability.Model // whose places they are
	facts map[graph.Fact]probability.Place
	// rivals are the best new answers of queries.
	rivals map[graph.Query][]probability.Place
}

// EvidenceOf observes facts that were judged, as if none was. Facts of the graph tell nothing. The model keeps what it
// observes. done is as in Observe.
func (m *Model) EvidenceOf(ctx context.Context, e *probability.Estimator, said []Said, done func(queries int)) (*Evidence, error) {
	said = slices.DeleteFunc(slices.Clone(said), func(s Said) bool { return m.Graph.Has(s.Head, s.Relation, s.Tail) })
	m.placed.Lock()
	defer m.placed.Unlock()
	if at := &m.placed; at.of != m.fitted.Load() || at.facts == nil {
		at.of, at.facts, at.rivals = m.fitted.Load(), map[graph.Fact]probability.Place{}, map[graph.Query][]probability.Place{}
	}
	if err := m.place(ctx, e, said, done); err != nil {
		return nil, err
	}
	return &Evidence{m, said, maps.Clone(m.placed.facts), maps.Clone(m.placed.rivals)}, nil
}

// place observes the facts that are not placed, and the rivals that divide their probabilities.
func (m *Model) place(ctx context.Context, e *probability.Estimator, said []Said, done func(queries int)) error {
	var facts []graph.Fact
	var asked []graph.Query
	wanted := map[graph.Query]bool{}
	for _, s := range said {
		if _, known := m.placed.facts[s.Fact]; !known {
			facts = append(facts, s.Fact)
		}
		for _, q := range e.Rivals(s.Fact, 1) {
			if _, known := m.placed.rivals[q]; !known && !wanted[q] {
				wanted[q], asked = true, append(asked, q)
			}
		}
	}
	observed, err := m.Observe(ctx, facts, done)
	if err != nil {
		return err
	}
	found, _, err := m.candidates(ctx, asked, probability.DefaultK, nil, keepAll, done)
	if err != nil {
		return err
	}
	for i := range observed {
		m.placed.facts[observed[i].Fact] = e.Place(&observed[i])
	}
	for i, q := range asked {
		m.placed.rivals[q] = []probability.Place{}
		for j := range found[i] {
			m.placed.rivals[q] = append(m.placed.rivals[q], e.Place(&found[i][j]))
		}
	}
	return nil
}

// Probabilities returns the probability of each judged fact that the graph lacks.
func (v *Evidence) Probabilities(e *probability.Estimator) []float64 {
	at := func(p probability.Place) Estimated {
		return Estimated{Observation: probability.Observation{Fact: p.Fact}, Estimate: e.At(p)}
	}
	list := make([]float64, len(v.said))
	for i, s := range v.said {
		j, divisor := at(v.facts[s.Fact]), 1.
		for _, q := range e.Rivals(s.Fact, j.Probability) {
			var rivals []Estimated
			for _, r := range v.rivals[q] {
				rivals = append(rivals, at(r))
			}
			divisor = max(divisor, rivalsOf(q.Relation, rivals).divisor(j.Entity(q.Relation), j.Probability))
		}
		list[i] = v.m.givenVerdicts(e, s.Fact, j.Probability/divisor) // what is said of it may follow from another verdict
	}
	return list
}

// judgments returns the judged facts, with their probabilities for what is presumed of each share.
func (v *Evidence) judgments(presume func(share float64) probability.Presumed) ([]probability.Judgment, error) {
	list := make([]probability.Judgment, len(v.said))
	for i, s := range v.said {
		list[i] = probability.Judgment{True: s.True, Weight: s.Weight}
	}
	for _, share := range probability.Shares() {
		e, err := v.m.newEstimator(presume(share))
		if err != nil {
			return nil, err
		}
		for i, p := range v.Probabilities(e) {
			list[i].P = append(list[i].P, p)
		}
	}
	return list, nil
}

// Told is what judged facts tell of the shares that are missing. Its zero value stands for too few of them.
type Told struct {
	Common probability.Posterior `json:"common"`
	// Own are those of relations with many judged facts, by id.
	Own map[int32]probability.Posterior `json:"own,omitempty"`
	// Sure and True contradict: of so many judged facts, which have a mean probability of Said, so many are true. They
	// are zero where the two agree.
	Sure int     `json:"sure,omitempty"`
	True int     `json:"true,omitempty"`
	Said float64 `json:"said,omitempty"`
}

// Tell returns what the evidence tells.
func (v *Evidence) Tell() (Told, error) {
	if len(v.said) < leastSaid {
		return Told{}, nil
	}
	all, err := v.judgments(func(share float64) probability.Presumed { return probability.Presumed{Missing: share} })
	if err != nil {
		return Told{}, err
	}
	told := Told{Common: probability.PosteriorOf(all, nil), Own: map[int32]probability.Posterior{}}
	of := map[int32][]Said{}
	for _, s := range v.said {
		of[s.Relation] = append(of[s.Relation], s)
	}
	for r, said := range of {
		if len(said) < leastSaid {
			continue
		}
		most := v.m.fitted.Load().Relations[r].Most
		prior := func(logarithm float64) float64 {
			z, beyond := (logarithm-math.Log(told.Common.Share))/ownDeviation, 0.
			if most > 0 {
				beyond = max(0, logarithm-math.Log(most)) / mostDeviation
			}
			return -(z*z + beyond*beyond) / 2
		}
		own := Evidence{v.m, said, v.facts, v.rivals}
		judged, err := own.judgments(func(share float64) probability.Presumed {
			return probability.OwnShares(told.Common.Share, map[int32]float64{r: share})
		})
		if untold := (*probability.UntoldError)(nil); errors.As(err, &untold) {
			continue
		}
		if err != nil {
			return Told{}, err
		}
		told.Own[r] = probability.PosteriorOf(judged, prior)
	}
	told.contradict(all)
	return told, nil
}

// isEmpty reports whether judged facts tell nothing.
func (t Told) isEmpty() bool { return t.Common.Judged == 0 }

// contradict compares the judged facts whose probability, at the likeliest share, is .5 and more with
// what was said of them.
func (t *Told) contradict(all []probability.Judgment) {
	at := slices.Index(probability.Shares(), t.Common.Share)
	sure, is, sum, variance := 0, 0, 0., 0.
	for _, j := range all {
		p := j.P[at]
		if p < .5 {
			continue
		}
		sure, sum, variance = sure+1, sum+p, variance+p*(1-p)
		if j.True {
			is++
		}
	}
	const deviations = 3
	if sure >= leastSaid && math.Abs(float64(is)-sum) > deviations*math.Sqrt(variance)+1 {
		t.Sure, t.True, t.Said = sure, is, sum/float64(sure)
	}
}

// Lines says what is told in a line, of relations with an own share too, and that it contradicts the probabilities.
func (t Told) Lines(relations []string) []string {
	if t.isEmpty() {
		return nil
	}
	lines := []string{fmt.Sprintf("%d verdicts: between %s and %s of the facts are missing, %s", t.Common.Judged, percent(t.Common.Low), percent(t.Common.High),
		percent(t.Common.Share))}
	for _, r := range slices.Sorted(maps.Keys(t.Own)) {
		p := t.Own[r]
		lines = append(lines, fmt.Sprintf("%d of them on %s: between %s and %s, %s", p.Judged, names.Escape(relations[r]), percent(p.Low),
			percent(p.High), percent(p.Share)))
	}
	if t.Sure > 0 {
		lines = append(lines, fmt.Sprintf("verdicts contradict the probabilities: of %d judged facts with %.2f on the mean, %d are true", t.Sure, t.Said,
			t.True))
	}
	return lines
}

func percent(share float64) string { return fmt.Sprintf("%.2g%%", 100*share) }
