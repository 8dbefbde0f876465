package pattern

import (
	"cmp"
	"context"
	"slices"

	"tagnet/formats/workspace/verdicts"
	"tagnet/model/graph"
)

// evaluate sets the values of the entities for a variable, and leaves out those without one.
func (s *search) evaluate(ctx context.Context, v *variable, f *found) error {
	f.values = make([]value, len(f.entities))
	for i := range f.values {
		f.values[i] = value{p: 1, ends: make([]end, 0, len(v.branches))}
	}
	for i := range v.branches {
		best, err := s.bestEnds(ctx, &v.branches[i], f, f.beyond[i])
		if err != nil {
			return err
		}
		for j := range f.values {
			to := &f.values[j]
			to.p, to.logOdds, to.ends = to.p*best[j].p, to.logOdds+best[j].logOdds, append(to.ends, best[j].end)
		}
	}
	kept := &found{}
	for i, entity := range f.entities {
		if f.values[i].p > 0 {
			kept.entities, kept.values = append(kept.entities, entity), append(kept.values, f.values[i])
		}
	}
	f.entities, f.values = kept.entities, kept.values
	return nil
}

// MostPairs is about the most pairs of entities that are estimated at a time, 256 bytes each.
const MostPairs = 1 << 18

// pair is a pair of entities by their numbers, and its fact.
type pair struct {
	from, to int
	fact     graph.Fact
}

// ends are the other ends of a branch, and the best one of each entity of its variable.
type ends struct {
	*branch
	beyond *found
	best   []choice // 0 where there is none
}

// choice is the other end of a branch that an entity's value takes, with the product that this gives.
type choice struct {
	p, logOdds float64
	end
}

// consider takes a pair as the best of its entity if it is better: its fact has a probability and log odds, 1 and 0 if
// it is stated.
func (e *ends) consider(p pair, stated bool, truth, logOdds float64) {
	of := e.beyond.values[p.to]
	product, odds := of.p*truth, of.logOdds+logOdds
	if e.negated {
		product, odds = of.p*(1-truth), of.logOdds-logOdds
	}
	if now := e.best[p.from]; product > 0 && cmp.Or(cmp.Compare(now.p, product), cmp.Compare(now.logOdds, odds)) < 0 {
		e.best[p.from] = choice{product, odds, end{p.to, Fact{p.fact, stated, truth}}}
	}
}

// considerAll considers pairs whose facts are not stated.
func (s *search) considerAll(ctx context.Context, e *ends, pairs []pair) error {
	if len(pairs) == 0 {
		return nil
	}
	facts := make([]graph.Fact, len(pairs))
	for i, p := range pairs {
		facts[i] = p.fact
	}
	observed, err := s.Model.Observe(ctx, facts, s.Done)
	if err != nil {
		return err
	}
	estimates, _, err := s.Model.Estimate(ctx, observed, s.Estimator, s.Done)
	for i, of := range estimates {
		e.consider(pairs[i], false, of.Probability, of.LogOdds)
	}
	return err
}

// bestEnds returns, for each entity, the best product over the other ends of a branch, 0 where there is none.
func (s *search) bestEnds(ctx context.Context, b *branch, f, beyond *found) ([]choice, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	e := &ends{b, beyond, make([]choice, len(f.entities))}
	order := beyond.best()
	if s.Estimator == nil && !b.negated {
		order = nil // what is not stated has no probability
	}
	var pairs []pair
	for from, entity := range f.entities {
		q := graph.Query{Source: entity, Relation: b.relation, Answer: graph.None}
		fact := func(to int) graph.Fact { return q.Fact(beyond.entities[to], int32(s.Model.Graph.BaseRelations)) }
		stated := s.stated(q)
		for _, other := range stated { // first, as they make most others needless
			if to, is := slices.BinarySearch(beyond.entities, other); is {
				e.consider(pair{from, to, fact(to)}, true, 1, 0)
			}
		}
		others := 0 // that are not stated
		for _, to := range order {
			if !f.followed[from] || e.best[from].p >= beyond.values[to].p || s.Estimator != nil && others == s.Bindings {
				break // the others are no better, or not followed
			}
			p := pair{from, to, fact(to)}
			_, is := slices.BinarySearch(stated, beyond.entities[to])
			switch refused := s.Model.Judged().Verdict(p.fact) == verdicts.False; {
			case is:
				continue
			case s.Estimator == nil || refused:
				e.consider(p, false, 0, 0)
			default:
				pairs = append(pairs, p)
			}
			others++
		}
		if len(pairs) >= MostPairs {
			if err := s.considerAll(ctx, e, pairs); err != nil {
				return nil, err
			}
			pairs = pairs[:0]
		}
	}
	return e.best, s.considerAll(ctx, e, pairs)
}
