package probability

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"tagnet/model/parallel"
)

// Labeled is a fact of the graph, observed without it.
type Labeled struct {
	Observation
	// HeldOut is set if training did not see the fact.
	HeldOut bool
}

// minLabeled is the least number of labeled facts for a fit, and for intercepts of a relation's own.
const minLabeled = 20

// minClaim is the least number of labeled facts of a relation for probabilities of its candidates.
const minClaim = 2

// Regressions is how often Fit calls done, at most.
const Regressions = 1 + folds

// ErrTooFew is the error of a fit to fewer than minLabeled labeled facts that count, or to no unlabeled candidate.
var ErrTooFew = errors.New("too few facts to fit probabilities to")

// Fit fits a model to the labeled facts and the unlabeled candidates of a sample, whose order changes nothing. The
// surroundings belong to the graph of all facts. The caller sets Fingerprint.
//
// Unlabeled candidates that the sample does not take are left out, so that the candidates of both queries of a fact may
// be given. The end of ctx ends it. Threads change no bit. done is called Regressions times, also concurrently: before
// the folds' regressions, and after each.
func Fit(ctx context.Context, around *Surroundings, sample Sample, labeled []Labeled, unlabeled []Observation, threads int, done func()) (*Model, error) {
	// In a fixed order, so that sums have equal bits.
	labeled, unlabeled = slices.Clone(labeled), slices.Clone(unlabeled)
	slices.SortFunc(labeled, func(a, b Labeled) int { return a.Compare(b.Fact) })
	slices.SortFunc(unlabeled, func(a, b Observation) int { return a.Compare(b.Fact) })
	unlabeled = slices.CompactFunc(unlabeled, func(a, b Observation) bool { return a.Fact == b.Fact })
	if err := sample.Check(); err != nil {
		return nil, fmt.Errorf("fitting probabilities: the sample's %w", err)
	}
	if len(labeled) > sample.Facts || sample.Relations != around.graph.BaseRelations {
		return nil, fmt.Errorf("fitting probabilities: %d labeled facts of %d relations, want those of a sample of %d of %d relations",
			len(labeled), around.graph.BaseRelations, sample.Facts, sample.Relations)
	}
	if err := around.checkAll(labeled, unlabeled); err != nil {
		return nil, err
	}
	// No query has its source among its new answers.
	labeled = slices.DeleteFunc(labeled, func(l Labeled) bool { return l.ofItself() })
	unlabeled = slices.DeleteFunc(unlabeled, func(o Observation) bool { return o.ofItself() })
	if len(labeled) == 0 {
		return nil, fmt.Errorf("%w: fewer than %d are of relations that have %d", ErrTooFew, minLabeled, minClaim)
	}
	m := &Model{FormatVersion: FormatVersion, Sample: sample, Features: names(), Relations: make([]OfRelation, around.graph.BaseRelations)}
	for f := range Facts(around.graph) {
		m.Relations[f.Relation].Facts++
	}
	for _, l := range labeled {
		m.Relations[l.Relation].Drawn++
	}
	// The shift comes from all labeled facts; only facts among the best answers are examples.
	m.Shift = newShift(labeled)
	labeled = slices.DeleteFunc(labeled, func(l Labeled) bool { return !l.within(sample.K) })
	for _, l := range labeled {
		m.Relations[l.Relation].Labeled++
	}
	m.OwnIntercepts = ownIntercepts(m.Relations)
	var examples []example
	add := func(o *Observation, isLabeled bool, weight int) {
		if group, claimed := m.group(o); claimed {
			examples = append(examples, example{around.features(o, sample.K), o.Relation, group, sample.fold(o.Fact), isLabeled, weight})
		}
	}
	for i := range labeled {
		o := labeled[i].Observation
		// Facts that training saw score higher than missing ones.
		if !labeled[i].HeldOut {
			o.Tails.Score -= float32(m.Shift.Tails)
			o.Heads.Score -= float32(m.Shift.Heads)
		}
		add(&o, true, 1)
	}
	// A candidate counts as often as the sample's thinning says.
	facts := len(examples)
	for i := range unlabeled {
		if weight := sample.weight(around, &unlabeled[i]); weight > 0 {
			add(&unlabeled[i], false, weight)
		}
	}
	if facts < minLabeled || len(examples) == facts {
		return nil, fmt.Errorf("%w: %d labeled facts are among the %d best answers of their queries, want %d; %d unlabeled candidates are, want 1",
			ErrTooFew, facts, sample.K, minLabeled, len(examples)-facts)
	}
	if m.fit(ctx, examples, threads, done); ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return m, nil
}

// checkAll returns an error unless labeled observations are different facts of the graph, and unlabeled ones are none.
func (s *Surroundings) checkAll(labeled []Labeled, unlabeled []Observation) error {
	g := s.graph
	one := func(o *Observation, fact bool) error {
		err := o.check()
		switch {
		case err != nil:
		case min(o.Head, o.Relation, o.Tail) < 0 || max(int(o.Head), int(o.Tail)) >= g.Entities || int(o.Relation) >= g.BaseRelations:
			err = fmt.Errorf("the graph has %d entities and %d relations", g.Entities, g.BaseRelations)
		case g.Has(o.Head, o.Relation, o.Tail) != fact:
			err = fmt.Errorf("a fact of the graph: %t, want %t", !fact, fact)
		}
		if err != nil {
			return fmt.Errorf("fitting probabilities: (%d, %d, %d): %w", o.Head, o.Relation, o.Tail, err)
		}
		return nil
	}
	// Both lists are sorted.
	for i := range labeled {
		if err := one(&labeled[i].Observation, true); err != nil {
			return err
		}
		if i > 0 && labeled[i].Fact == labeled[i-1].Fact {
			return fmt.Errorf("fitting probabilities: (%d, %d, %d) is observed twice", labeled[i].Head, labeled[i].Relation, labeled[i].Tail)
		}
	}
	for i := range unlabeled {
		if err := one(&unlabeled[i], false); err != nil {
			return err
		}
	}
	return nil
}

// fit sets the regressions and the curve. The caller drops them if ctx was canceled meanwhile.
func (m *Model) fit(ctx context.Context, examples []example, threads int, done func()) {
	done()
	m.Folds = make([]Regression, folds)
	parallel.Workers(threads, folds, func(_, fold int) {
		m.Folds[fold] = *regress(ctx, examples, fold, m.groups())
		done()
	})
	list := make([]judged, len(examples))
	byRelation := make([][]judged, len(m.Relations))
	for i := range examples {
		e := &examples[i]
		list[i] = judged{m.Folds[e.fold].logOdds(&e.row, e.group), e.labeled, e.weight}
		byRelation[e.relation] = append(byRelation[e.relation], list[i])
	}
	m.Curve = newCurve(list)
	m.Usual = usual(list)
	for r := range m.Relations {
		m.Relations[r].judge(byRelation[r], m.Curve, m.Sample.Rate)
	}
	m.setUsual(m.Usual)
}

// judge sets what follows from the relation's observations, which it sorts.
func (of *OfRelation) judge(list []judged, c Curve, rate float64) {
	for _, j := range list {
		if j.labeled {
			continue
		}
		b := c.block(j.logOdds)
		for len(of.Unlabeled) <= b {
			of.Unlabeled = append(of.Unlabeled, 0)
		}
		of.Unlabeled[b] += j.weight
	}
	if of.Labeled < minLabeled {
		return
	}
	of.Usual = usual(list)
	if of.Unlabeled == nil {
		return
	}
	// Elkan and Noto: the mean g of labeled facts estimates n / (n + b m) from below, if all the facts of this relation
	// are like its labeled ones.
	g := newCurve(list).meanLabeled()
	most := float64(of.Labeled) * (1 - g) / (rate * g)
	of.Most = most / (float64(of.Facts) * float64(of.Labeled) / float64(of.Drawn))
}

// usual returns the log odds that labeled observations usually have.
func usual(list []judged) Usual {
	var m moments
	for _, j := range list {
		if j.labeled {
			m.add(j.logOdds)
		}
	}
	return Usual{m.sum / m.n, math.Sqrt(max(0, m.deviation()/m.n))}
}
