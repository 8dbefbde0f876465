package probability

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"tagnet/model/graph"
)

// Estimator gives probabilities that presume a number of missing facts. It may be used concurrently.
type Estimator struct {
	model    *Model
	around   *Surroundings
	presumed Presumed
	// common is presumed of all relations but those of own.
	common *assumption
	own    map[int32]*assumption
}

// assumption is what is presumed of relations: the share of their facts that is missing, which may be guessed. byBlock
// has the probability of each block of the curve.
type assumption struct {
	missing float64
	guessed bool
	byBlock []float64
}

// Estimator returns the model's estimator for a number of missing facts. The surroundings belong to the model's graph.
// The error says what is wrong with a share; that of a relation with too few observations is an *UntoldError.
func (m *Model) Estimator(around *Surroundings, presumed Presumed) (*Estimator, error) {
	if err := presumed.Check(); err != nil {
		return nil, err
	}
	if len(m.Relations) != around.graph.BaseRelations {
		return nil, fmt.Errorf("probabilities of %d relations do not fit a graph of %d", len(m.Relations), around.graph.BaseRelations)
	}
	e := &Estimator{model: m, around: around, presumed: presumed, own: map[int32]*assumption{}}
	shares := presumed.Own()
	plain := e.tally(func(r int32) bool { return shares[r] == 0 })
	if plain.labeled == 0 || slices.Max(plain.unlabeled) == 0 { // nothing else tells of the others
		plain = e.tally(func(int32) bool { return true })
	}
	e.common = &assumption{presumed.Missing, presumed.Guessed, plain.scaled(m, presumed.Missing)}
	for r, missing := range shares {
		of := e.tally(func(o int32) bool { return o == r })
		if of.labeled < minClaim || slices.Max(of.unlabeled) == 0 {
			return nil, &UntoldError{Relation: r}
		}
		if of.labeled < minLabeled { // as many pass as of all relations
			all := e.tally(func(int32) bool { return true })
			of.labeled, of.drawn = all.labeled, all.drawn
		}
		e.own[r] = &assumption{missing, false, of.scaled(m, missing)}
	}
	return e, nil
}

// UntoldError says that a relation has too few observations for a share of its own.
type UntoldError struct {
	Relation int32
	Name     string // of the relation, where the caller knows it
}

// Error names the relation, or its id where no caller knows the name.
func (e *UntoldError) Error() string {
	return fmt.Sprintf("relation %q has too few facts, or candidates, that probabilities were fitted to, for a share of its own",
		cmp.Or(e.Name, fmt.Sprint(e.Relation)))
}

// tally are the observations of some relations: the numbers of facts of the graph, of these drawn to be labeled, of
// labeled ones, and of unlabeled ones in each block of the curve.
type tally struct {
	facts          int64
	drawn, labeled int
	unlabeled      []int
}

// tally returns the observations of the relations that a function accepts.
func (e *Estimator) tally(is func(relation int32) bool) tally {
	all := tally{unlabeled: make([]int, len(e.model.Curve.Blocks))}
	for r := range e.model.Relations {
		of := &e.model.Relations[r]
		if !is(int32(r)) {
			continue
		}
		all.facts, all.drawn = all.facts+of.Facts, all.drawn+of.Drawn
		if of.Labeled >= minClaim {
			all.labeled += of.Labeled
		}
		for b, n := range of.Unlabeled {
			all.unlabeled[b] += n
		}
	}
	return all
}

// scaled returns the probability of each block if a share of the facts is missing. Only those count that are among the
// best of one of their queries.
func (o *tally) scaled(m *Model, missing float64) []float64 {
	counted := float64(o.facts) * float64(o.labeled) / float64(o.drawn)
	return m.Curve.probabilities(missing*counted*m.Sample.Rate, o.unlabeled)
}

// Text returns a sentence on what is presumed.
func (e *Estimator) Text() string {
	by := "which no data tell"
	if e.presumed.Told {
		by = "as verdicts tell"
	}
	text := fmt.Sprintf("probabilities presume that %s%% of the facts are missing, %s", percent(e.presumed.Missing), by)
	switch n := len(e.own); {
	case n == 1:
		text += "; of 1 relation its own share"
	case n > 1:
		text += fmt.Sprintf("; of %d relations their own shares", n)
	}
	return text
}

// IsOf reports whether the estimator, which may be nil, is that of a model and what is presumed.
func (e *Estimator) IsOf(m *Model, presumed Presumed) bool {
	return e != nil && e.model == m && e.presumed == presumed
}

// Presumed returns what is presumed.
func (e *Estimator) Presumed() Presumed { return e.presumed }

// Most returns how many facts of a relation are missing at most, as a share of its facts, if its labeled facts are like
// all others, and whether the data tell.
func (e *Estimator) Most(relation int32) (share float64, told bool) {
	share = e.model.Relations[relation].Most
	return share, share > 0
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
	// BelowUsual is by how many standard deviations they are below those that facts of the relation usually have.
	BelowUsual float64
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
func (e *Estimator) Estimate(o *Observation) Estimate { return e.At(e.Place(o)) }

// Place is what an estimate depends on, whatever is presumed.
type Place struct {
	graph.Fact
	block    int
	estimate Estimate // without a probability
}

// Place returns the place of an observation.
func (e *Estimator) Place(o *Observation) Place {
	m := e.model
	group, claimed := m.group(o)
	x := e.around.features(o, m.Sample.K)
	p := Place{Fact: o.Fact, estimate: Estimate{LogOdds: m.Folds[m.Sample.fold(o.Fact)].logOdds(&x, group)}}
	p.estimate.HasProbability = claimed && !o.ofItself() // see Facts
	usual := m.Relations[o.Relation].Usual
	p.estimate.BelowUsual = (usual.Mean - p.estimate.LogOdds) / max(usual.Deviation, leastDeviation)
	if o.within(m.Sample.K) {
		p.block = m.Curve.block(p.estimate.LogOdds)
	}
	return p
}

// At returns the estimate of a place, of an estimator of the same model.
func (e *Estimator) At(p Place) Estimate {
	if !p.estimate.HasProbability {
		return p.estimate
	}
	of := e.common
	if own := e.own[p.Relation]; own != nil {
		of = own
	}
	p.estimate.Probability = mirrored(of.byBlock[p.block], e.around.mirror(p.Fact, of.missing, of.guessed))
	return p.estimate
}

// leastDeviation is the least standard deviation of usual log odds: all facts of a relation may be alike.
const leastDeviation = .1

// mirrored returns the probability of a fact whose mirror is stated, or p where that by its mirror is no higher.
// What the scores tell, and how many of a relation have their mirrors, are two opinions on its odds: the result is
// their geometric mean.
func mirrored(p, byMirror float64) float64 {
	if byMirror = min(byMirror, surest); byMirror <= p {
		return p
	}
	odds := math.Sqrt(p / (1 - p) * byMirror / (1 - byMirror))
	return odds / (1 + odds)
}

// Rivals returns the queries of which the fact is one of several new answers, while one at most is true: the relation
// is nearly functional in this direction, and the graph has no answer. There are none for a fact that is not likely.
func (e *Estimator) Rivals(f graph.Fact, p float64) (queries []graph.Query) {
	if !Likely(p) {
		return nil
	}
	tail, head := f.Queries(int32(e.model.Sample.Relations))
	for _, q := range []graph.Query{tail, head} {
		if e.OneAnswer(q) {
			queries = append(queries, graph.Query{Source: q.Source, Relation: q.Relation, Answer: graph.None})
		}
	}
	return queries
}

// OneAnswer reports whether at most one new answer of a query is true, as far as the graph tells.
func (e *Estimator) OneAnswer(q graph.Query) bool {
	return e.around.functional[q.Relation] && !e.around.hasAnswer(q.Source, q.Relation)
}

// Likely reports whether the probability of a rival is divided. Dividing those of unlikely ones, too,
// would take many queries.
func Likely(p float64) bool { return p >= .1 }

// Text returns a probability as people read it: two digits, and bounds beyond those that figures tell apart.
func Text(p float64) string {
	switch {
	case p < .001:
		return "under 0.001"
	case p < .0995:
		return fmt.Sprintf("%.3f", p)
	case p > .995:
		return "over 0.99"
	}
	return fmt.Sprintf("%.2f", p)
}
